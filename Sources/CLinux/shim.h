// What of Linux the event loop needs and Swift's Glibc module leaves out, and nothing else.
#ifndef UNDERSTUDY_CLINUX_SHIM_H
#define UNDERSTUDY_CLINUX_SHIM_H

#include <pthread.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

// Both are declared by the headers for _GNU_SOURCE only, which Swift's Glibc module does not define.
extern int accept4(int socket, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(pthread_t thread, const char *name);

static inline int understudy_accept(int listener, int flags) { return accept4(listener, NULL, NULL, flags); }

static inline void understudy_name_this_thread(const char *name) { pthread_setname_np(pthread_self(), name); }

#endif
