/* no_fsync.c -- files that a test writes need not outlive a power cut. Link
 * with
 * --wrap=fsync. */

int __wrap_fsync(int file);
int
__wrap_fsync(int file)
{
    (void)file;
    return 0;
}
