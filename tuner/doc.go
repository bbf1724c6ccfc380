// Package tuner chooses what to run next and what to recommend.
//
// It is pure: it reads no file and no clock and starts no process. A run is a
// conversation with it:
//
//  1. New takes the Space (which configurations are allowed) and the Goal
//     (what is wanted, and the limits).
//  2. Next gives a Request: one configuration, and how long to run it.
//  3. Somebody runs it and hands the Trial to Observe.
//  4. 2 and 3 repeat until Next has nothing more to ask.
//  5. Recommend gives the answer from the trials seen so far.
//
// What Next gives depends on nothing but the Space, the Goal and the trials
// observed, in their order, so that a stopped run goes on by observing its
// finished trials again.
package tuner
