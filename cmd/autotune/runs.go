package main

import (
	"os"
	"path/filepath"
	"strings"
	"time"

	"autotune/harness"
)

// runsFolder is where runs without --out go, and where the newest is looked for.
const runsFolder = "autotune-runs"

// newFolder is the default folder of a run that begins now. What a shell or a file system might
// take for more than a letter becomes a hyphen, such as the colon of torchvision:resnet50.
func newFolder(model string, now time.Time) string {
	plain := func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r) {
			return r
		}
		return '-'
	}
	name := strings.TrimLeft(strings.Map(plain, model), "-.")
	return filepath.Join(runsFolder, name+"-"+now.UTC().Format("20060102T150405Z"))
}

// readRun reads the run that the arguments name, or else the newest.
func readRun(args []string) (*harness.Run, error) {
	path, err := runPath(args)
	if err != nil {
		return nil, err
	}
	return harness.ReadRun(path)
}

// runPath is the run that the arguments name, or else the one under runsFolder
// whose journal changed last.
func runPath(args []string) (string, error) {
	if len(args) > 0 {
		return args[0], nil
	}
	journals, err := filepath.Glob(filepath.Join(runsFolder, "*", harness.JournalName))
	if err != nil {
		return "", err
	}
	newest, changed := "", time.Time{}
	for _, journal := range journals {
		info, err := os.Stat(journal)
		if err == nil && info.ModTime().After(changed) {
			newest, changed = filepath.Dir(journal), info.ModTime()
		}
	}
	if newest == "" {
		return "", usagef("no run is named and there is none under %s; give a run's folder or its %s", runsFolder, harness.JournalName)
	}
	return newest, nil
}

// shellWord is a word as a shell reads it back: quoted where it has to be.
func shellWord(word string) string {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_./:=,%+@", r)
	}
	if word != "" && strings.IndexFunc(word, func(r rune) bool { return !plain(r) }) < 0 {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
