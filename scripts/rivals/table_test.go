package main

import (
	"testing"
)

func TestGoal(t *testing.T) {
	others := []find{{finder: lightning, Seconds: 30}, {finder: lightningExact, Seconds: 40}, {finder: accelerateHigh, Seconds: 8}}
	for _, c := range []struct {
		ours find
		want string
	}{
		{find{Size: 486, Seconds: 8, BothSides: true}, "met"},
		{find{Size: 485, Seconds: 8, BothSides: true}, "**missed**: not the true size"},
		{find{Size: 486, Seconds: 8}, "**missed**: not proven from both sides"},
		{find{Size: 486, Seconds: 11, BothSides: true},
			"**missed**: more than a third of the seconds of Lightning binsearch; more seconds than accelerate from 1024"},
	} {
		if got := (result{truth: 486, finds: others}).goal(c.ours); got != c.want {
			t.Errorf("%+v: %q, want %q", c.ours, got, c.want)
		}
	}
}

func TestGoalOfAPart(t *testing.T) {
	r := result{truth: 486, finds: []find{{finder: lightning, Seconds: 30}, {finder: accelerateHigh, Seconds: 8}}}
	want := "**missed**: not run beside Lightning binsearch, margin 0"
	if got := r.goal(find{Size: 486, Seconds: 8, BothSides: true}); got != want {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestAddJournal(t *testing.T) {
	journal := `{"record":"header"}
{"record":"forecast","wall_seconds":3}
{"record":"trial","purpose":"border","worker":1,"wall_seconds":2,"failure":null}
{"record":"trial","purpose":"border","worker":2,"wall_seconds":1,"failure":{"type":"OutOfMemoryError"}}
{"record":"trial","purpose":"soak","worker":3,"wall_seconds":30,"failure":null}
{"record":"recommendation","wall_seconds":36}
`
	var f find
	workers, err := f.addJournal([]byte(journal))
	if want := (find{Trials: 2, Failures: 1, Seconds: 6, Soak: 30}); err != nil || f != want || workers != 2 {
		t.Errorf("got %+v on %d workers (%v), want %+v on 2", f, workers, err, want)
	}
}
