// Search-study runs the search on simulated devices and recorded surfaces, beside
// what other tools do, and writes the tables of docs/search.md. From the project's
// root:
//
//	go run ./scripts/search-study
//
// Everything below the line "<!-- tables -->" of the file is replaced. The figures
// are simulated and do not depend on the machine.
package main

import (
	"bytes"
	"flag"
	"fmt"
	"os"
	"time"

	"autotune/harness"
)

// marker is the line below which the tables stand.
const marker = "<!-- tables -->\n"

func main() {
	file := flag.String("file", "docs/search.md", "the `FILE` whose tables are written")
	flag.Parse()
	if err := replaceTables(*file, writeTables); err != nil {
		fmt.Fprintln(os.Stderr, "search-study:", err)
		os.Exit(1)
	}
}

// replaceTables replaces what stands below the marker of the file by what write writes.
// The file is left as it is where that fails.
func replaceTables(file string, write func(*bytes.Buffer) error) error {
	old, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	above, _, found := bytes.Cut(old, []byte(marker))
	if !found {
		return fmt.Errorf("%s has no line %q below which its tables could stand", file, marker[:len(marker)-1])
	}
	var out bytes.Buffer
	out.Write(above)
	out.WriteString(marker)
	if err := write(&out); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// writeTables writes all tables, in the order of the document.
func writeTables(w *bytes.Buffer) error {
	env := harness.ReadEnvironment()
	cpu := "an unnamed CPU"
	if env.CPUModel != nil {
		cpu = *env.CPUModel
	}
	fmt.Fprintf(w, "\nMade by `go run ./scripts/search-study` on %s with %s, %s/%s, on %d cores of %s.\n",
		time.Now().UTC().Format(time.DateOnly), env.GoVersion, env.OS, env.Arch, env.Cores, cpu)
	for _, section := range []func(*bytes.Buffer) error{borders, foreseen, harder, throughputs, surfaces} {
		if err := section(w); err != nil {
			return err
		}
	}
	return nil
}
