package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"k8s.io/cli-runtime/pkg/genericiooptions"

	"open-cluster-management.io/interlock/pkg/kube/cmdline"
)

// TestUIServesFile opens the address that the verb prints, and reads a file with the token in it.
func TestUIServesFile(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	out, in := io.Pipe()
	streams, _, _, errOut := genericiooptions.NewTestIOStreams()
	streams.Out = in
	command := NewCommand(streams)
	command.SetArgs([]string{"ui", "--from", file(t, hub()), "--group-by", "vendor"})
	ended := make(chan int, 1)
	go func() { ended <- cmdline.Run(ctx, command, errOut) }()
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	address, err := url.Parse(strings.TrimSpace(strings.TrimPrefix(line, "Open ")))
	if err != nil || address.Hostname() != "127.0.0.1" || address.RawQuery != "" || !strings.HasPrefix(address.Fragment, "token=") {
		t.Fatalf("%q, %v", line, err)
	}
	go func() { _, _ = io.Copy(io.Discard, out) }()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address.Host+"/api/cluster?name=cluster40", nil)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+strings.TrimPrefix(address.Fragment, "token="))
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	var cluster struct{ Name, Group string }
	if err := json.NewDecoder(response.Body).Decode(&cluster); err != nil || cluster.Name != "cluster40" || cluster.Group != "OpenShift" {
		t.Errorf("%+v, %v", cluster, err)
	}
	cancel()
	select {
	case code := <-ended:
		if code != cmdline.ExitOK {
			t.Errorf("exit code %d: %s", code, errOut)
		}
	case <-time.After(30 * time.Second):
		t.Error("the verb does not end")
	}
}

func TestUIRefusesFlags(t *testing.T) {
	fleet := file(t, hub())
	for args, want := range map[string]string{
		"ui --group-by a/b/c":  `--group-by="a/b/c": must be the name of a label`,
		"ui --port 70000":      "invalid argument",
		"ui extra":             "unknown command",
		"ui -n nowhere":        `no managed cluster "nowhere"`,
		"ui --from nofile.txt": "--from: ",
	} {
		if !strings.Contains(args, "--from") {
			args += " --from " + fleet
		}
		if got := run(t, strings.Fields(args)...); !strings.Contains(got, want) || !strings.Contains(got, "exit code") {
			t.Errorf("%s: no %q in\n%s", args, want, got)
		}
	}
}
