/* sources_parts.h -- which stores a read may take, and where a store may go. */
#ifndef SOURCES_PARTS_H
#define SOURCES_PARTS_H

void sources_parts_read(void);
void sources_parts_stored(void);
void sources_parts_full(void);

#endif
