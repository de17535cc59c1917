package simulator

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const auditLines = `{"verb":"patch","user":{"username":"manager"},"objectRef":{"resource":"managedclusteraddons"}}
{"verb":"list","user":{"username":"manager"},"objectRef":{"resource":"managedclusteraddons"}}
{"verb":"watch","user":{"username":"manager"},"objectRef":{"resource":"managedclusteraddons"}}
{"verb":"update","user":{"username":"manager"},"objectRef":{"resource":"leases"}}
{"verb":"create","user":{"username":"agent"},"objectRef":{"resource":"events"}}
`

func appendTo(t *testing.T, path, text string) {
	t.Helper()
	file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	if _, err := file.WriteString(text); err != nil {
		t.Fatal(err)
	}
}

func count(t *testing.T, requests *Requests) Counts {
	t.Helper()
	counts, err := requests.Count()
	if err != nil {
		t.Fatal(err)
	}
	return counts
}

func TestRequests(t *testing.T) {
	requests := &Requests{path: filepath.Join(t.TempDir(), "audit.log")}
	if counts := count(t, requests); len(counts) != 0 {
		t.Errorf("before anybody asked: %v", counts)
	}
	appendTo(t, requests.path, auditLines)
	before := count(t, requests)
	if before.Reads("manager", AllResources...) != 1 || before.Writes("manager", AllResources...) != 1 {
		t.Errorf("a patch and a list, and neither a watch nor a lease: %v", before)
	}
	if before.Writes("agent", FleetResources...) != 0 || before.Writes("agent", AllResources...) != 1 {
		t.Errorf("events are not of the fleet: %v", before)
	}
}

func TestRequestsLeavesALineThatIsBeingWritten(t *testing.T) {
	requests := &Requests{path: filepath.Join(t.TempDir(), "audit.log")}
	line := `{"verb":"patch","user":{"username":"manager"},"objectRef":{"resource":"managedclusteraddons"}}` + "\n"
	appendTo(t, requests.path, line+line[:30])
	before := count(t, requests)
	appendTo(t, requests.path, line[30:]+line)
	want := Counts{{User: "manager", Verb: "patch", Resource: "managedclusteraddons"}: 2}
	if diff := cmp.Diff(want, count(t, requests).Since(before)); diff != "" {
		t.Error(diff)
	}
}

func TestRequestsRejectsInvalidLine(t *testing.T) {
	requests := &Requests{path: filepath.Join(t.TempDir(), "audit.log")}
	appendTo(t, requests.path, "panic: something\n")
	if _, err := requests.Count(); err == nil {
		t.Error("no error")
	}
}
