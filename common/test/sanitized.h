/*
 * sanitized.h -- is this program built with a sanitizer, and so several times
 * slower and larger?
 */
#ifndef COMMON_TEST_SANITIZED_H
#define COMMON_TEST_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#elif defined(__has_feature)
#define SANITIZED                                                           \
    (__has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
     __has_feature(thread_sanitizer))
#else
#define SANITIZED 0
#endif

#endif
