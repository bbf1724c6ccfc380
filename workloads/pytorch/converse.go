package pytorch

import (
	"bytes"
	"context"
	"os/exec"
	"time"
)

// spoken is what a process wrote.
type spoken struct{ output, errors []byte }

// converse runs a program with a line of input until it ends, or until the context does; then the processes that it
// started end too. Its input stays open until then, so that the program can see when this one is gone.
func converse(ctx context.Context, input []byte, program string, arguments ...string) (spoken, error) {
	var output bytes.Buffer
	var said tail
	command := exec.CommandContext(ctx, program, arguments...)
	command.Stdout, command.Stderr = &output, &said
	command.WaitDelay = time.Second
	ownGroup(command)
	stdin, err := command.StdinPipe()
	if err == nil {
		err = command.Start()
	}
	if err == nil {
		_, _ = stdin.Write(append(input, '\n')) // one that does not read it says why in another way
		err = command.Wait()
	}
	endGroup(command)
	return spoken{output.Bytes(), said.kept}, err
}

// tail keeps the last bytes that are written to it.
type tail struct{ kept []byte }

// mostKept is how much of a process's output is kept for an error.
const mostKept = 8 << 10

// Write keeps the end.
func (t *tail) Write(p []byte) (int, error) {
	t.kept = append(t.kept, p...)
	if surplus := len(t.kept) - mostKept; surplus > 0 {
		t.kept = t.kept[surplus:]
	}
	return len(p), nil
}
