/*
 * map_model.h -- the map of the converter (cli/record/map.h) against one array
 * that is searched from its begin to its end.
 */
#ifndef PROPS_MAP_MODEL_H
#define PROPS_MAP_MODEL_H

/* Any keys and values: each is found, and the map is as full as it may be. */
void map_check_random(void);

/* Keys that come and go do not make it grow. */
void map_check_few_live(void);

/* Keys that are addresses or numbers lie apart. */
void map_check_spread(void);

/* Without memory it stays as it was. */
void map_check_refused(void);

#endif
