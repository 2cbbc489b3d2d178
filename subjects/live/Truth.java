import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;

/** As truth.c, for the JVM: byte arrays of SIZE bytes, header included. */
public class Truth {
    static final int HEADER = 16;
    static byte[][] kept;
    static int keptCount;
    static long chance;

    static byte[] site_0(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_1(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_2(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_3(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_4(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_5(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_6(int bytes) { return new byte[bytes - HEADER]; }
    static byte[] site_7(int bytes) { return new byte[bytes - HEADER]; }

    static byte[] allocate(int site, int bytes) {
        switch (site) {
        case 0: return site_0(bytes);
        case 1: return site_1(bytes);
        case 2: return site_2(bytes);
        case 3: return site_3(bytes);
        case 4: return site_4(bytes);
        case 5: return site_5(bytes);
        case 6: return site_6(bytes);
        default: return site_7(bytes);
        }
    }

    static long nextNumber() {
        chance += 0x9e3779b97f4a7c15L;
        long mixed = chance;
        mixed = (mixed ^ mixed >>> 30) * 0xbf58476d1ce4e5b9L;
        mixed = (mixed ^ mixed >>> 27) * 0x94d049bb133111ebL;
        return mixed ^ mixed >>> 31;
    }

    static long[] left, done, keep;
    static int[] size;

    static boolean allocateOne() {
        long all = 0;
        for (long one : left) {
            all += one;
        }
        if (all == 0) {
            return false;
        }
        long at = Long.remainderUnsigned(nextNumber(), all);
        int site = 0;
        while (at >= left[site]) {
            at -= left[site++];
        }
        allocateOf(site);
        return true;
    }

    static void allocateOf(int site) {
        left[site]--;
        byte[] block = allocate(site, size[site]);
        if (done[site]++ % keep[site] == 0) {
            kept[keptCount++] = block;
        }
    }

    static volatile byte[] last;

    static void warmUp() {
        for (int i = 0; i < 4096; i++) {
            last = new byte[8192 - HEADER];
        }
    }

    static boolean allocateTen() {
        boolean more = true;
        for (int i = 0; i < 10 && more; i++) {
            more = allocateOne();
        }
        return more;
    }

    /** Each thread allocates ten and waits: none ends before the last. */
    static void allocateAlive() throws Exception {
        CountDownLatch over = new CountDownLatch(1);
        List<Thread> threads = new ArrayList<>();
        final boolean[] more = {true};
        while (more[0]) {
            CountDownLatch has = new CountDownLatch(1);
            Thread thread = new Thread(() -> {
                more[0] = allocateTen();
                has.countDown();
                try {
                    over.await();
                } catch (InterruptedException stop) {
                    throw new IllegalStateException(stop);
                }
            });
            thread.start();
            has.await();
            threads.add(thread);
        }
        over.countDown();
        for (Thread thread : threads) {
            thread.join();
        }
    }

    public static void main(String[] words) throws Exception {
        int sites = words.length - 2;
        int room = 0;
        chance = Long.parseLong(words[1]);
        left = new long[sites];
        done = new long[sites];
        keep = new long[sites];
        size = new int[sites];
        for (int i = 0; i < sites; i++) {
            String[] parts = words[i + 2].split(":");
            size[i] = Integer.parseInt(parts[0]);
            left[i] = Long.parseLong(parts[1]);
            keep[i] = Long.parseLong(parts[2]);
            room += left[i] / keep[i] + 1;
        }
        kept = new byte[room + 1][];
        if (!words[0].equals("cold")) {
            warmUp();
        }
        if (words[0].equals("siblings")) {
            for (int i = 0; i < sites; i++) {
                final int site = i;
                Thread thread = new Thread(() -> {
                    while (left[site] > 0) {
                        allocateOf(site);
                    }
                });
                thread.start();
                thread.join();
            }
        } else if (words[0].equals("threads")) {
            final boolean[] more = {true};
            while (more[0]) {
                Thread thread = new Thread(() -> more[0] = allocateTen());
                thread.start();
                thread.join();
            }
        } else if (words[0].equals("alive")) {
            allocateAlive();
        } else {
            while (allocateOne()) {
            }
        }
    }
}
