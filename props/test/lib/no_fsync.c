/* no_fsync.c -- makes fsync() do nothing: files that a test writes need not
 * survive a power failure. Link with --wrap=fsync. */

int __wrap_fsync(int file);
int
__wrap_fsync(int file)
{
    (void)file;
    return 0;
}
