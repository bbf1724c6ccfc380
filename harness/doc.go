// Package harness runs trials and keeps what they gave.
//
// The path of one trial:
//
//  1. the run loop asks tuner.Next for a Request;
//  2. a worker process (see Workload) gets it as a protocol.Trial;
//  3. the worker's steps, memory and end, and what was seen from outside, become one TrialRecord;
//  4. the record is appended to the journal and synced;
//  5. Judge tells what it means, and the tuner observes that.
//
// A failed trial is a value in that stream, not an error of the run.
package harness
