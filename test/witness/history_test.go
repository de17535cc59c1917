package witness

import (
	"fmt"
	"testing"
)

const event = `{"kind":"Event","apiVersion":"audit.k8s.io/v1","stage":%q,"requestURI":%q,"verb":%q,"user":{"username":"bob"},` +
	`"userAgent":"registration/v1 (linux)","objectRef":{"resource":"managedclusteraddons","namespace":"cluster1","name":"app"},` +
	`"responseStatus":{"code":%d},"responseObject":%s,` +
	`"requestReceivedTimestamp":"2026-01-01T00:00:00.000001Z","stageTimestamp":"2026-01-01T00:00:00.000002Z"}`

const stored = `{"kind":"ManagedClusterAddOn","apiVersion":"addon.open-cluster-management.io/v1beta1",` +
	`"metadata":{"name":"app","namespace":"cluster1","resourceVersion":"7"},` +
	`"status":{"conditions":[{"type":"Available","status":"True","reason":"R"}]}}`

func TestParseRequest(t *testing.T) {
	status := `{"kind":"Status","apiVersion":"v1","metadata":{}}`
	for name, test := range map[string]struct {
		stage, uri, verb string
		code             int
		response         string

		skipped, refused bool
		manager          string
		version          uint64
	}{
		"a write": {
			stage: "ResponseComplete", uri: "/apis/x?fieldManager=interlock-addon-agent", verb: "patch", code: 200, response: stored,
			manager: "interlock-addon-agent", version: 7,
		},
		"by user agent": {
			stage: "ResponseComplete", uri: "/apis/x", verb: "update", code: 200, response: stored, manager: "registration", version: 7,
		},
		"refused": {
			stage: "ResponseComplete", uri: "/apis/x", verb: "update", code: 409, response: status, refused: true, manager: "registration",
		},
		"a deletion": {
			stage: "ResponseComplete", uri: "/apis/x", verb: "delete", code: 200, response: status, manager: "registration",
		},
		"a deletion that waits": {
			stage: "ResponseComplete", uri: "/apis/x", verb: "delete", code: 200, response: stored, manager: "registration", version: 7,
		},
		"a dry run": {
			stage: "ResponseComplete", uri: "/apis/x?dryRun=All", verb: "update", code: 200, response: stored, skipped: true,
		},
		"a stage before the answer": {
			stage: "RequestReceived", uri: "/apis/x", verb: "update", response: "null", skipped: true,
		},
	} {
		t.Run(name, func(t *testing.T) {
			request, ok, err := parseRequest(fmt.Appendf(nil, event, test.stage, test.uri, test.verb, test.code, test.response))
			if err != nil {
				t.Fatal(err)
			}
			if ok == test.skipped {
				t.Fatalf("is a write: %t", ok)
			}
			if test.skipped {
				return
			}
			var version uint64
			if request.State != nil {
				version = request.State.Version
			}
			if request.Refused != test.refused || request.Writer.Manager != test.manager || version != test.version || request.Object != app {
				t.Errorf("got %+v", request)
			}
		})
	}
	if _, _, err := parseRequest([]byte("{")); err == nil {
		t.Error("half a line is no error")
	}
}

func TestWriterIsInterlock(t *testing.T) {
	for _, test := range []struct {
		writer Writer
		want   bool
	}{
		{agent, true},
		{manager, true},
		{Writer{"admin", "interlock-addon-manager"}, true},
		{Writer{"admin", "addon-agent"}, true},
		{Writer{"system:serviceaccount:interlock-system:interlock-webhook", "rest"}, true},
		{registration, false},
		{Writer{"system:serviceaccount:open-cluster-management-hub:addon-manager-controller-sa", "addon"}, false},
	} {
		if got := test.writer.Interlock(); got != test.want {
			t.Errorf("%s: %t", test.writer, got)
		}
	}
}

func TestWritesJoinStatesWithRequests(t *testing.T) {
	state := func(version uint64, content string) State { return State{Version: version, content: content} }
	request := func(second int, writer Writer, version uint64, content string) Request {
		stored := state(version, content)
		return Request{Received: timeAt(second), Done: timeAt(second), Object: app, Verb: "patch", Writer: writer, State: &stored}
	}
	basedOn := func(version uint64, done int, request Request) Request {
		request.BasedOn, request.Done = version, timeAt(done)
		return request
	}
	watched := func(version uint64, content string) observation {
		return observation{app, state(version, content), timeAt(100)}
	}
	deleted := observation{app, State{Version: 9, Deleted: true}, timeAt(100)}
	deletion := Request{Received: timeAt(8), Done: timeAt(8), Object: app, Verb: "delete", Writer: registration}
	base := map[Object]State{app: state(5, "a")}
	for name, test := range map[string]struct {
		record record
		want   string
	}{
		"a change": {record{
			base: base, observations: []observation{watched(6, "b")}, requests: []Request{request(6, agent, 6, "b")},
		}, "6 by interlock-addon-agent; "},
		"stored again without a change": {record{
			base: base, observations: []observation{watched(6, "a")}, requests: []Request{request(6, agent, 6, "a")},
		}, "6 by interlock-addon-agent unchanged; "},
		"not stored: the base": {record{
			base: base, requests: []Request{request(6, agent, 5, "a")},
		}, "5 by interlock-addon-agent unchanged; "},
		"not stored: another's": {record{
			base: base, observations: []observation{watched(6, "b")},
			requests: []Request{request(7, agent, 6, "b"), request(6, registration, 6, "b")},
		}, "6 by registration; 6 by interlock-addon-agent unchanged; "},
		"logged before the request that stored it": {record{base: base, observations: []observation{watched(6, "b")}, requests: []Request{
			basedOn(5, 8, request(6, agent, 6, "b")), basedOn(6, 7, request(7, registration, 6, "b")),
		}}, "6 by interlock-addon-agent; 6 by registration unchanged; "},
		"the last finalizer is removed": {record{
			base: base, requests: []Request{func() Request {
				request := request(6, agent, 5, "a")
				request.State.Ended = true
				return request
			}()},
		}, ""},
		"before it began": {record{since: timeAt(7), base: base, requests: []Request{request(6, agent, 5, "a")}}, ""},
		"not on a watch": {record{
			base: base, observations: []observation{watched(7, "c")},
			requests: []Request{request(6, registration, 6, "b"), request(7, agent, 7, "c")},
		}, "6 by registration; 7 by interlock-addon-agent; "},
		"not in the log": {record{base: base, observations: []observation{watched(6, "b")}}, "6 by ; "},
		"in another version: nothing known": {record{
			base: base, observations: []observation{watched(6, "a")}, requests: []Request{request(6, registration, 6, "")},
		}, "6 by registration unchanged; "},
		"deleted": {record{
			base: base, observations: []observation{deleted}, requests: []Request{deletion},
		}, "9 by registration; "},
		"deleted and created": {record{
			base: base, observations: []observation{deleted, watched(10, "b")}, requests: []Request{deletion, request(9, agent, 10, "b")},
		}, "9 by registration; 10 by interlock-addon-agent; "},
		"refused": {record{
			base: base, requests: []Request{{Received: timeAt(6), Object: app, Writer: agent, Refused: true}},
		}, "0 by interlock-addon-agent refused; "},
		"not observed": {record{
			requests: []Request{{Received: timeAt(6), Object: Object{"events", "x", "y"}, Writer: agent}},
		}, "0 by interlock-addon-agent; "},
	} {
		t.Run(name, func(t *testing.T) {
			got := ""
			for _, w := range test.record.writes() {
				got += fmt.Sprintf("%d by %s", w.version(), w.Writer.Manager)
				if w.Unchanged() {
					got += " unchanged"
				}
				if w.Refused {
					got += " refused"
				}
				got += "; "
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

func TestCountsAreOfThePeriod(t *testing.T) {
	writes := new(story).degraded(failing).available(registration, up).available(agent, ours).nothing(agent).writes
	writes = append(writes, Write{Time: timeAt(3), Object: app, Writer: agent, Refused: true})
	for _, w := range new(story).label("available").label("unhealthy").writes {
		w.Time = timeAt(int(w.version()) + 2)
		writes = append(writes, w)
	}
	counts := count(writes, period{timeAt(2), timeAt(5)})
	appCounts := counts.ForAddOn("cluster1", "app")
	for name, test := range map[string]struct{ got, want int }{
		"by Interlock": {counts.Interlock(), 3},
		"writes":       {appCounts.Sum(func(c Count) int { return c.Writes }), 3},
		"unchanged":    {appCounts.Sum(func(c Count) int { return c.Unchanged }), 1},
		"refused":      {appCounts.Sum(func(c Count) int { return c.Refused }), 1},
		"moves":        {appCounts.Sum(func(c Count) int { return c.Moves }), 2},
		"stock Trues":  {appCounts.Sum(func(c Count) int { return c.StockTrues }), 1},
		"of another":   {len(counts.ForAddOn("cluster1", "other").Rows), 0},
		"of an object": {len(appCounts.Rows), 2},
		"labels":       {counts.LabelMoves("cluster1", "app"), 1},
	} {
		if test.got != test.want {
			t.Errorf("%s: %d, want %d in\n%s", name, test.got, test.want, counts)
		}
	}
}

func TestAWatchThatLagsBehindItsCRD(t *testing.T) {
	object := Object{Resource: registrations, Name: "app"}
	pruned := State{Version: 7, Declared: map[string]bool{"a": true}}
	whole := State{Version: 7, Declared: map[string]bool{"a": true, "b": true}}
	r := record{
		observations: []observation{{object: object, state: pruned}},
		requests:     []Request{{Object: object, Verb: "create", State: &whole}},
	}
	for range 2 {
		writes := r.writes()
		if len(writes) != 1 || !writes[0].After.Declared["b"] {
			t.Fatalf("%v", writes)
		}
	}
	if len(pruned.Declared) != 1 {
		t.Error("what was observed has changed")
	}
}
