/* offer_parts.h -- what is known of futile reads, and what is offered to those
 * that wait for it. */
#ifndef OFFER_PARTS_H
#define OFFER_PARTS_H

void offer_parts_futile(void);
void offer_parts_released(void);
void offer_parts_marked(void);
void offer_parts_later(void);
void offer_parts_settled(void);

#endif
