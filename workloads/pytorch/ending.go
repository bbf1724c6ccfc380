package pytorch

import (
	"fmt"
	"strings"
)

// whole says that the process said all that it was to say.
func (a *ProbeAnswer) whole() bool { return a.Error != nil || a.Torch != "" && a.Stage == "" }

// guardHint is for files that are programs too.
const guardHint = `What a file does as a program, such as reading arguments or training, belongs below: if __name__ == "__main__":`

// explain completes the error of a model's code that raised SystemExit by what it printed, and by what helps.
func (a *ProbeAnswer) explain(model string, printed []byte) {
	if a.Torch == "" || a.Error == nil || a.Error.Type != "SystemExit" {
		return
	}
	raised, traceback, _ := strings.Cut(text(a.Error), "\n")
	lines := []string{fmt.Sprintf("%s ended Python while %s; %s", raised, a.during(model), lastOf(printed))}
	if a.Stage == stageImport {
		lines = append(lines, guardHint)
	}
	a.Error.Text = strings.Join(append(lines, traceback), "\n")
}

// hung is the error of code that had not ended in time.
func (a *ProbeAnswer) hung(python, model string, printed []byte) {
	said := fmt.Sprintf("no end within %v while %s; %s", probeTimeout, a.during(model), lastOf(printed))
	if a.Stage == stageImport {
		said += "\n" + guardHint + "\nSee what it waits for: " + importing(python, model)
	}
	a.Error = &ProbeFailed{Text: said}
}

// ended is the error of a process that ended before it had said all: torch's own where it was not imported yet.
func (a *ProbeAnswer) ended(how, model string, printed []byte) {
	if a.Torch != "" {
		how += " while " + a.during(model)
	}
	a.Error = &ProbeFailed{Text: how + "; " + lastOf(printed)}
}

// The stages of an answer.
const (
	stageImport = "import"
	stageBuild  = "build"
	stageBatch  = "batch"
)

// during is what was being done with a model, a clause.
func (a *ProbeAnswer) during(model string) string {
	file, function := parts(model)
	switch {
	case a.Stage == stageImport:
		return file + " was imported"
	case a.Stage == stageBatch:
		return "its first batch was read"
	case strings.HasSuffix(file, ".py"):
		return fmt.Sprintf("%s of %s was called", function, file)
	}
	return "the model was built"
}

// importing is the command that imports what a model comes from.
func importing(python, model string) string {
	file, _ := parts(model)
	if strings.HasSuffix(file, ".py") {
		return python + " " + file
	}
	return fmt.Sprintf("%s -c 'import %s'", python, file)
}

// mostLines is how many of a process's last lines an error shows.
const mostLines = 20

// lastOf is the end of what a process printed, a clause.
func lastOf(printed []byte) string {
	lines := strings.Split(strings.TrimSpace(strings.ToValidUTF8(string(printed), "?")), "\n")
	lines = lines[max(0, len(lines)-mostLines):]
	switch {
	case len(lines) > 1:
		return "the last that it printed:\n  " + strings.Join(lines, "\n  ")
	case lines[0] == "":
		return "it printed nothing"
	}
	return "the last that it printed: " + lines[0]
}
