(* As truth.c, for OCaml: byte strings whose block has SIZE bytes, header
   included. Prints samples of Gc.Memprof by size: each callback is n samples. With
   "fork" a child does the same, and prints its samples first.

   Each process draws the same random numbers, as the generator's seed is a constant.
   So a run first allocates 32 SEED large blocks: 32 draw more than any run does. *)
let words bytes = bytes / 8

let chance = ref 0L

let next_number () =
  let open Int64 in
  chance := add !chance 0x9e3779b97f4a7c15L;
  let mixed = !chance in
  let mixed = mul (logxor mixed (shift_right_logical mixed 30)) 0xbf58476d1ce4e5b9L in
  let mixed = mul (logxor mixed (shift_right_logical mixed 27)) 0x94d049bb133111ebL in
  logxor mixed (shift_right_logical mixed 31)

let () =
  let rate = float_of_string (Sys.getenv "AUDIT_RATE") in
  let sites = Array.length Sys.argv - 3 in
  chance := Int64.of_string Sys.argv.(2);
  let part i = Scanf.sscanf Sys.argv.(i + 3) "%d:%d:%d" (fun a b c -> (a, b, c)) in
  let parts = Array.init sites part in
  let left = Array.map (fun (_, count, _) -> count) parts in
  let finished = Array.make sites 0 in
  let kept = ref [] in
  let current = ref (-1) in
  let samples = Array.make sites 0 in
  let callback (info : Gc.Memprof.allocation) =
    if !current >= 0
       && info.Gc.Memprof.size + 1 = words (let (s, _, _) = parts.(!current) in s)
    then samples.(!current) <- samples.(!current) + info.Gc.Memprof.n_samples;
    None in
  let tracker = { Gc.Memprof.null_tracker with
                  alloc_minor = callback; alloc_major = callback } in
  (* Samples are of words: a rate of bytes is one in RATE/8 of them. *)
  if rate > 0. then
    Gc.Memprof.start ~sampling_rate:(8. /. rate) ~callstack_size:0 tracker;
  for skip = 1 to 32 * Int64.to_int !chance do
    ignore (Sys.opaque_identity (Bytes.create (8 lsl 20)));
    if skip mod 16 = 0 then Gc.full_major ()
  done;
  if Sys.argv.(1) = "fork" then begin
    for _ = 1 to 4096 do ignore (Sys.opaque_identity (Bytes.create 48)) done;
    match Unix.fork () with
    | 0 -> ()
    | child -> ignore (Unix.waitpid [] child)
  end;
  let total = ref (Array.fold_left (+) 0 left) in
  while !total > 0 do
    let at = ref (Int64.to_int (Int64.unsigned_rem (next_number ()) (Int64.of_int !total))) in
    let i = ref 0 in
    while !at >= left.(!i) do at := !at - left.(!i); incr i done;
    let (size, _, keep) = parts.(!i) in
    left.(!i) <- left.(!i) - 1;
    decr total;
    current := !i;
    (* A string of n bytes has n / 8 + 1 words and a header. *)
    let block = Bytes.create (size - 16) in
    current := !i;
    if finished.(!i) mod keep = 0 then kept := block :: !kept;
    finished.(!i) <- finished.(!i) + 1
  done;
  if rate > 0. then Gc.Memprof.stop ();
  Array.iteri (fun i n -> Printf.printf "%d %d\n" i n) samples;
  ignore (Sys.opaque_identity !kept)
