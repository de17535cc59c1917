package witness

import (
	"bufio"
	"bytes"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	auditv1 "k8s.io/apiserver/pkg/apis/audit/v1"
)

//go:embed policy.yaml
var policy []byte

// AuditFlags returns the flags with which a hub's API server writes the audit log that a witness reads, and the path
// of the log. The policy and the log are put into dir.
func AuditFlags(dir string) (map[string][]string, string, error) {
	policyFile, log := filepath.Join(dir, "audit-policy.yaml"), filepath.Join(dir, "audit.log")
	if err := os.WriteFile(policyFile, policy, 0o600); err != nil {
		return nil, "", fmt.Errorf("write the audit policy: %w", err)
	}
	return map[string][]string{
		"audit-policy-file": {policyFile},
		"audit-log-path":    {log},
		"audit-log-maxsize": {"100000"}, // in MB: if the log were rotated, requests would be lost
	}, log, nil
}

// Request is a request to write, as read from the audit log.
type Request struct {
	Received, Done time.Time
	Object         Object
	Verb           string
	Writer         Writer
	// Refused is true if the API server responded with an error.
	Refused bool
	// BasedOn is the version that the request was based on. It is zero if the request names none.
	BasedOn uint64
	// State is the stored state after the request, if the policy logs it.
	State *State
}

// storedNothing reports whether the object still has the version that the request was based on.
func (r Request) storedNothing() bool { return r.State != nil && r.BasedOn == r.State.Version }

// auditLog reads a log from the end of the last read.
type auditLog struct {
	path   string
	offset int64
}

// openAuditLog begins at the present end of a log. A missing log counts as empty: the API server creates it with the
// first request.
func openAuditLog(path string) (*auditLog, error) {
	info, err := os.Stat(path)
	if errors.Is(err, os.ErrNotExist) {
		return &auditLog{path: path}, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	return &auditLog{path: path, offset: info.Size()}, nil
}

// read returns the requests since the last read. An incomplete line is left for the next read.
func (l *auditLog) read() ([]Request, error) {
	file, err := os.Open(l.path)
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	defer func() { _ = file.Close() }() // nothing was written to it
	if _, err := file.Seek(l.offset, io.SeekStart); err != nil {
		return nil, fmt.Errorf("audit log: %w", err)
	}
	var requests []Request
	for lines := bufio.NewReader(file); ; {
		line, err := lines.ReadBytes('\n')
		if errors.Is(err, io.EOF) {
			return requests, nil
		}
		if err != nil {
			return nil, fmt.Errorf("audit log: %w", err)
		}
		request, ok, err := parseRequest(line)
		if err != nil {
			return nil, fmt.Errorf("audit log %s at byte %d: %w", l.path, l.offset, err)
		}
		l.offset += int64(len(line))
		if ok {
			requests = append(requests, request)
		}
	}
}

// parseRequest reads a line. The result is false if the line is not a write. A dry run is not a write.
func parseRequest(line []byte) (Request, bool, error) {
	event := auditv1.Event{}
	if err := json.Unmarshal(bytes.TrimSpace(line), &event); err != nil {
		return Request{}, false, fmt.Errorf("not an event of audit.k8s.io/v1: %w", err)
	}
	uri, err := url.Parse(event.RequestURI)
	if err != nil {
		return Request{}, false, fmt.Errorf("requestURI %q: %w", event.RequestURI, err)
	}
	if event.ObjectRef == nil || event.Stage != auditv1.StageResponseComplete || uri.Query().Has("dryRun") {
		return Request{}, false, nil
	}
	request := Request{
		Received: event.RequestReceivedTimestamp.Time, Done: event.StageTimestamp.Time, Verb: event.Verb,
		Object:  Object{event.ObjectRef.Resource, event.ObjectRef.Namespace, event.ObjectRef.Name},
		Writer:  writerOf(&event, uri.Query().Get("fieldManager")),
		Refused: event.ResponseStatus != nil && event.ResponseStatus.Code >= http.StatusMultipleChoices,
	}
	if request.Refused || event.ResponseObject == nil {
		return request, true, nil
	}
	if event.RequestObject != nil {
		request.BasedOn = versionIn(event.RequestObject.Raw)
	}
	err = request.readState(event.ResponseObject.Raw)
	return request, true, err
}

// versionIn returns the resourceVersion in an object or a patch, or zero if there is none.
func versionIn(raw []byte) uint64 {
	var body struct {
		Metadata struct {
			ResourceVersion string `json:"resourceVersion"`
		} `json:"metadata"`
	}
	if json.Unmarshal(raw, &body) != nil {
		return 0 // a JSON patch
	}
	version, err := strconv.ParseUint(body.Metadata.ResourceVersion, 10, 64)
	if err != nil {
		return 0
	}
	return version
}

func writerOf(event *auditv1.Event, manager string) Writer {
	if manager == "" {
		manager, _, _ = strings.Cut(event.UserAgent, "/")
	}
	if event.ImpersonatedUser != nil {
		return Writer{event.ImpersonatedUser.Username, manager}
	}
	return Writer{event.User.Username, manager}
}

// readState reads the object of the API server's response. If the object is gone, the response is a Status. For the
// deletion of many objects, it is a list.
func (r *Request) readState(raw []byte) error {
	object := &unstructured.Unstructured{}
	if err := object.UnmarshalJSON(raw); err != nil {
		return fmt.Errorf("response of the request for %s: %w", r.Object, err)
	}
	if object.GetName() == "" || object.GetResourceVersion() == "" {
		return nil
	}
	r.Object.Name = object.GetName() // a creation may leave the name to the API server
	state, err := stateOf(object)
	if err != nil {
		return err
	}
	// The watches are of v1alpha1. Fields that another version leaves out are unknown.
	if !strings.HasSuffix(object.GetAPIVersion(), "/"+observedVersion(r.Object.Resource)) {
		state.content, state.Declared = "", nil
	}
	r.State = &state
	return nil
}
