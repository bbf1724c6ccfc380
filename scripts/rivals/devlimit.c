//go:build ignore

/* devlimit makes a small device of the host: preloaded into a process (LD_PRELOAD), it counts the bytes that torch's
 * CPU allocator holds and refuses what would pass the limit in the variable DEVLIMIT, in bytes. torch then raises its
 * own out-of-memory error; neither torch nor the program above it knows that there is a limit.
 *
 * Counted is what libc10.so, torch's allocator, asks of posix_memalign: all storage of tensors on the CPU, that inside
 * operations included. Calls from other libraries pass through uncounted: oneDNN asks for small objects in the same
 * way and does not survive a refusal. Bytes are those asked for, before malloc rounds them, and so the same each time.
 *
 *   gcc -O2 -shared -fPIC -pthread -o devlimit.so devlimit.c
 *
 * devlimit_peak() and devlimit_refused() tell a program that wants to know (ctypes.CDLL(None).devlimit_peak). */
#define _GNU_SOURCE
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* glibc's own functions by their other names: dlsym would itself call malloc and free while they are being replaced. */
extern void __libc_free(void *);
extern void *__libc_memalign(size_t, size_t);

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static size_t live, peak, refused, limit = SIZE_MAX;

/* The live blocks by address, in a hash table with open addressing. Its 16 MiB are touched only where they are used. */
#define SLOTS (1u << 20)
#define WAS_USED 1 /* in place of an address: a block was here, the search goes on behind it */
static struct {
  uintptr_t address;
  size_t bytes;
} blocks[SLOTS];
static size_t count;

static unsigned next(unsigned slot) { return (slot + 1) & (SLOTS - 1); }

static unsigned first(uintptr_t address) { return (unsigned)((address >> 6) * 0x9E3779B97F4A7C15ull >> 44); }

static void remember(uintptr_t address, size_t bytes) {
  if (count >= SLOTS / 2) abort(); /* never seen: some thousands are live in training */
  unsigned slot = first(address);
  while (blocks[slot].address > WAS_USED) slot = next(slot);
  blocks[slot].address = address;
  blocks[slot].bytes = bytes;
  count++;
}

/* forget is the bytes of the block at the address, which is taken out; 0: it is none of ours. */
static size_t forget(uintptr_t address) {
  for (unsigned slot = first(address); blocks[slot].address; slot = next(slot)) {
    if (blocks[slot].address != address) continue;
    blocks[slot].address = blocks[next(slot)].address ? WAS_USED : 0;
    count--;
    return blocks[slot].bytes;
  }
  return 0;
}

/* The addresses of libc10's code; 0 until it is loaded. */
static uintptr_t code_begin, code_end;

static int find_libc10(struct dl_phdr_info *library, size_t size, void *unused) {
  (void)size;
  (void)unused;
  const char *name = strrchr(library->dlpi_name, '/');
  if (!name || strncmp(name + 1, "libc10.so", 9)) return 0;
  for (int i = 0; i < library->dlpi_phnum; i++) {
    const ElfW(Phdr) *part = &library->dlpi_phdr[i];
    if (part->p_type != PT_LOAD || !(part->p_flags & PF_X)) continue;
    code_begin = library->dlpi_addr + part->p_vaddr;
    code_end = code_begin + part->p_memsz;
  }
  return 1;
}

static int from_libc10(uintptr_t caller) {
  if (!code_end) dl_iterate_phdr(find_libc10, NULL);
  return caller >= code_begin && caller < code_end;
}

int posix_memalign(void **out, size_t alignment, size_t bytes) {
  if (!from_libc10((uintptr_t)__builtin_return_address(0))) {
    void *block = __libc_memalign(alignment, bytes);
    if (!block) return ENOMEM;
    *out = block;
    return 0;
  }
  pthread_mutex_lock(&lock);
  void *block = bytes <= limit && live <= limit - bytes ? __libc_memalign(alignment, bytes) : NULL;
  if (block) {
    remember((uintptr_t)block, bytes);
    live += bytes;
    if (live > peak) peak = live;
    *out = block;
  } else {
    refused++;
  }
  pthread_mutex_unlock(&lock);
  return block ? 0 : ENOMEM;
}

void free(void *block) {
  if (block && (uintptr_t)block % 64 == 0) { /* libc10 aligns to 64 bytes */
    pthread_mutex_lock(&lock);
    if (count) live -= forget((uintptr_t)block);
    pthread_mutex_unlock(&lock);
  }
  __libc_free(block);
}

size_t devlimit_peak(void) { return peak; }
size_t devlimit_refused(void) { return refused; }

__attribute__((constructor)) static void read_limit(void) {
  const char *text = getenv("DEVLIMIT");
  if (text && *text) limit = strtoull(text, NULL, 10);
}
