// As truth.c, for V8: arrays of SIZE bytes, header and elements together. All are
// kept, because V8 counts only what is in use. Prints a line a site: the bytes that
// V8's sampled profile estimates.
'use strict';
const inspector = require('inspector');

const HEADERS = 48; // of an array and its elements
const kept = [];

function site_0(n) { return new Array(n); }
function site_1(n) { return new Array(n); }
function site_2(n) { return new Array(n); }
function site_3(n) { return new Array(n); }
function site_4(n) { return new Array(n); }
function site_5(n) { return new Array(n); }
function site_6(n) { return new Array(n); }
function site_7(n) { return new Array(n); }
const sites = [site_0, site_1, site_2, site_3, site_4, site_5, site_6, site_7];

const parts = process.argv.slice(4).map((word) => {
    const [bytes, left] = word.split(':').map(Number);
    return {length: (bytes - HEADERS) / 8, left};
});

// Mulberry32: numbers of 64 bits are slow here.
let chance = Number(process.argv[3]) >>> 0;
function nextNumber() {
    chance = chance + 0x6D2B79F5 >>> 0;
    let mixed = Math.imul(chance ^ chance >>> 15, chance | 1);
    mixed ^= mixed + Math.imul(mixed ^ mixed >>> 7, mixed | 61);
    return (mixed ^ mixed >>> 14) >>> 0;
}

function allocateAll() {
    let all = parts.reduce((sum, part) => sum + part.left, 0);
    for (; all > 0; all--) {
        let at = nextNumber() % all;
        let i = 0;
        while (at >= parts[i].left)
            at -= parts[i++].left;
        parts[i].left--;
        kept.push(sites[i](parts[i].length));
    }
}

let last;

function warmUp() {
    for (let i = 0; i < 4096; i++)
        last = new Array(1018);
}

const rate = Number(process.env.AUDIT_RATE); // 0: without a profile
const session = new inspector.Session();
session.connect();
if (rate > 0)
    session.post('HeapProfiler.startSampling', {samplingInterval: rate});
if (process.argv[2] !== 'cold')
    warmUp();
allocateAll();
if (rate > 0)
    session.post('HeapProfiler.getSamplingProfile', (error, {profile}) => {
        const sums = new Array(parts.length).fill(0);
        (function walk(node) {
            const found = /^site_(\d)$/.exec(node.callFrame.functionName);
            if (found !== null)
                sums[found[1]] += node.selfSize;
            node.children.forEach(walk);
        })(profile.head);
        sums.forEach((sum, i) => console.log(i, sum));
    });
