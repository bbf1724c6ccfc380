// Rivals runs autotune beside the batch size finders of Lightning and accelerate
// on the same models and under the same limit, of which none of them knows: a
// library that is preloaded into each process (devlimit.c) counts the bytes of
// torch's CPU allocator and refuses what passes the limit. The true size is found
// by a plain loop, in a fresh process for every size around the border.
//
//	go run ./scripts/rivals            print the table
//	go run ./scripts/rivals --write    and put it into docs/search.md
//
// It takes Linux, gcc and Python 3.13; scripts/torch-venv makes the environment.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"autotune/scripts/built"
	"autotune/scripts/marked"
)

// limitBytes is what torch's CPU allocator may hold in each process.
const limitBytes = 1_000_000_000

func main() {
	write := flag.Bool("write", false, "put the table into docs/search.md, between its markers")
	models := flag.String("models", "", "only these, `NAME,NAME`")
	finders := flag.String("finders", "", "only those whose name contains one of `TEXT,TEXT`")
	flag.Parse()
	if err := run(*models, *finders, *write); err != nil {
		fmt.Fprintln(os.Stderr, "rivals:", err)
		os.Exit(1)
	}
}

// run makes the tools, runs everything and writes the table.
func run(models, finders string, write bool) error {
	dir, err := os.MkdirTemp("", "rivals")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	t, err := makeTools(dir)
	if err != nil {
		return err
	}
	var results []result
	for _, s := range subjects {
		if !chosen(s.name, models) {
			continue
		}
		r, err := compare(t, s, finders)
		if err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		results = append(results, r)
	}
	var out bytes.Buffer
	if err := writeTable(&out, t, results); err != nil {
		return err
	}
	if write {
		return marked.Put(tableFile, "rivals", out.String())
	}
	_, err = os.Stdout.Write(out.Bytes())
	return err
}

// chosen says whether the name contains one of the texts; no texts: all are chosen.
func chosen(name, texts string) bool {
	for _, text := range strings.Split(texts, ",") {
		if strings.Contains(name, text) {
			return true
		}
	}
	return false
}

// tools are what the runs need, made by makeTools.
type tools struct {
	dir     string // holds the tools and what the runs leave; it is also where they run
	python  string // interpreter with torch, Lightning and accelerate
	counter string // the library to preload
	binary  string // autotune
	sources string // folder of the scripts in Python
}

// makeTools compiles and installs into the folder.
func makeTools(dir string) (tools, error) {
	sources, err := filepath.Abs("scripts/rivals")
	if err != nil {
		return tools{}, err
	}
	t := tools{dir: dir, sources: sources, counter: filepath.Join(dir, "devlimit.so")}
	if t.binary, err = built.Autotune(dir); err != nil {
		return t, err
	}
	compile := compileCounter(sources, t.counter)
	if out, err := exec.Command(compile[0], compile[1:]...).CombinedOutput(); err != nil {
		return t, fmt.Errorf("%s: %w\n%s", strings.Join(compile, " "), err, out)
	}
	venv := exec.Command("scripts/torch-venv", "rivals")
	venv.Stderr = os.Stderr
	python, err := venv.Output()
	if err != nil {
		return t, fmt.Errorf("scripts/torch-venv rivals: %w", err)
	}
	t.python = strings.TrimSpace(string(python))
	return t, nil
}

// compileCounter is the command that makes the library to preload.
func compileCounter(sources, counter string) []string {
	return []string{"gcc", "-O2", "-shared", "-fPIC", "-pthread", "-o", counter, filepath.Join(sources, "devlimit.c")}
}

// limited is a command that runs under the counter, in the tools' folder.
func (t tools) limited(name string, args ...string) *exec.Cmd {
	c := exec.Command(name, args...)
	c.Dir, c.Stderr = t.dir, os.Stderr
	c.Env = append(os.Environ(), "LD_PRELOAD="+t.counter, fmt.Sprintf("DEVLIMIT=%d", limitBytes))
	return c
}
