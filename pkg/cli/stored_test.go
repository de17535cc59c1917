package cli

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet/snapshot"
	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/pkg/report"
	"open-cluster-management.io/interlock/test/fixture"
	"open-cluster-management.io/interlock/test/fleetreport"
)

// storedHub is an API server with a fleet, and with a report on it.
type storedHub struct {
	snapshot.Content
	report *report.FleetReport
	// refusal is the status of the response to a request for the report, unless it is zero.
	refusal int
	leases  []coordinationv1.Lease

	mutex sync.Mutex
	// reads has the numbers of requests by resource, with the name of the cluster if one was requested.
	reads map[string]int
}

// serve returns the address of the API server.
func (h *storedHub) serve(t *testing.T) string {
	t.Helper()
	t.Setenv("KUBECONFIG", filepath.Join(t.TempDir(), "none"))
	h.reads = map[string]int{}
	server := httptest.NewServer(h)
	t.Cleanup(server.Close)
	return server.URL
}

// ServeHTTP implements http.Handler.
func (h *storedHub) ServeHTTP(response http.ResponseWriter, request *http.Request) {
	resource, namespace := path.Base(request.URL.Path), ""
	if _, after, ok := strings.Cut(request.URL.Path, "/namespaces/"); ok {
		namespace, _, _ = strings.Cut(after, "/")
	}
	name := strings.TrimPrefix(request.URL.Query().Get("fieldSelector"), "metadata.name=")
	h.mutex.Lock()
	h.reads[strings.TrimSpace(resource+" "+namespace+name)]++
	h.mutex.Unlock()
	response.Header().Set("Content-Type", "application/json")
	var items []any
	switch resource {
	case "fleet":
		h.serveReport(response)
		return
	case "clustermanagementaddons":
		items = matching(h.Registrations, func(*addonv1alpha1.ClusterManagementAddOn) bool { return true })
	case "managedclusteraddons":
		items = matching(h.AddOns, func(addOn **addonv1alpha1.ManagedClusterAddOn) bool {
			return (namespace == "" || (*addOn).Namespace == namespace) && (name == "" || (*addOn).Name == name)
		})
	case "managedclusters":
		items = matching(h.Clusters, func(cluster *clusterv1.ManagedCluster) bool { return name == "" || cluster.Name == name })
	case "leases":
		items = matching(h.leases, func(*coordinationv1.Lease) bool { return true })
	}
	_, groupVersion, _ := strings.Cut(request.URL.Path, "/apis/")
	group, rest, _ := strings.Cut(groupVersion, "/")
	version, _, _ := strings.Cut(rest, "/")
	_ = json.NewEncoder(response).Encode(map[string]any{
		"apiVersion": group + "/" + version, "kind": storedKinds[resource] + "List", "items": append([]any{}, items...),
	})
}

// storedKinds has the kinds of resources.
var storedKinds = map[string]string{
	"clustermanagementaddons": "ClusterManagementAddOn", "managedclusteraddons": "ManagedClusterAddOn", "managedclusters": "ManagedCluster",
	"leases": "Lease", "addondependencypolicies": "AddOnDependencyPolicy", "managedclusterfacts": "ManagedClusterFacts",
}

func (h *storedHub) serveReport(response http.ResponseWriter) {
	if h.refusal != 0 {
		reason := map[int]metav1.StatusReason{
			http.StatusNotFound: metav1.StatusReasonNotFound, http.StatusForbidden: metav1.StatusReasonForbidden,
			http.StatusInternalServerError: metav1.StatusReasonInternalError,
		}[h.refusal]
		response.WriteHeader(h.refusal)
		_ = json.NewEncoder(response).Encode(metav1.Status{
			TypeMeta: metav1.TypeMeta{APIVersion: "v1", Kind: "Status"},
			Status:   metav1.StatusFailure,
			Reason:   reason,
			Code:     int32(h.refusal),
			Message:  "as tested",
		})
		return
	}
	_ = json.NewEncoder(response).Encode(h.report)
}

func matching[T any](items []T, matches func(*T) bool) []any {
	var matched []any
	for i := range items {
		if matches(&items[i]) {
			matched = append(matched, items[i])
		}
	}
	return matched
}

// withReport returns a hub with a fleet and the report on it, which is three minutes old.
func withReport(t *testing.T, content snapshot.Content) *storedHub {
	t.Helper()
	h := &storedHub{Content: content, report: fleetreport.Of(t, snapshot.New(content))}
	h.report.Observed = metav1.NewTime(time.Now().Add(-3*time.Minute - 5*time.Second))
	return h
}

var (
	ageLine = regexp.MustCompile(`As addon-manager observed it 3m\d*s? ago \([^)]*\), unchanged since then. ` +
		`To evaluate all managed clusters now: [^\n]*--live\n`)
	ages = regexp.MustCompile(`-?[0-9a-z]+ ago,`)
)

// TestStoredReportPrintsTheSame tests that the outputs with the report are those of reading the fleet, apart from the age of the report.
func TestStoredReportPrintsTheSame(t *testing.T) {
	for _, command := range []string{"why", "why -A", "status --summary"} {
		t.Run(command, func(t *testing.T) {
			h := withReport(t, hub())
			server := h.serve(t)
			got := run(t, append(strings.Fields(command), "--server", server)...)
			for read := range h.reads {
				if read == "managedclusteraddons" || read == "managedclusters" {
					t.Errorf("it has read all %s", read)
				}
			}
			if h.reads["fleet"] != 1 {
				t.Errorf("requests: %v", h.reads)
			}
			want := run(t, append(strings.Fields(command), "--live", "--server", server)...)
			if h.reads["fleet"] != 1 {
				t.Error("it has read the report with --live")
			}
			if !ageLine.MatchString(got) {
				t.Errorf("the age of the report is missing:\n%s", got)
			}
			normal := func(output string) string { return ages.ReplaceAllString(ageLine.ReplaceAllString(output, ""), "ago,") }
			if normal(got) != normal(want) {
				t.Errorf("with the report:\n%s\nwithout:\n%s", got, want)
			}
		})
	}
}

// TestFleetIsReadWithoutReport tests that the fleet is read where the report does not exist, is not readable or current, or does not have
// what is to be printed.
func TestFleetIsReadWithoutReport(t *testing.T) {
	stopped := coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: names.AddonManager, Namespace: "interlock-system"}}
	stopped.Spec.HolderIdentity, stopped.Spec.RenewTime = ptr.To(""), ptr.To(metav1.NowMicro())
	leads := *stopped.DeepCopy()
	leads.Spec.HolderIdentity, leads.Spec.LeaseDurationSeconds = ptr.To("pod-1"), ptr.To(int32(15))
	died := *leads.DeepCopy()
	died.Spec.RenewTime = ptr.To(metav1.NewMicroTime(time.Now().Add(-time.Hour)))
	for name, test := range map[string]struct {
		command string
		refusal int
		lease   *coordinationv1.Lease
		// reported is whether the output has the age of the report. requested is whether the report was requested.
		reported, requested bool
		want                string
	}{
		"a leader keeps it":         {command: "why", lease: &leads, reported: true, requested: true},
		"it does not exist":         {command: "why", refusal: http.StatusNotFound, requested: true},
		"the user may not read it":  {command: "why", refusal: http.StatusForbidden, requested: true},
		"its summary is forbidden":  {command: "status --summary", refusal: http.StatusForbidden, requested: true},
		"no leader":                 {command: "why", lease: &stopped, requested: true, want: "No addon-manager leads"},
		"the leader has died":       {command: "status --summary", lease: &died, requested: true, want: "No addon-manager leads"},
		"an add-on":                 {command: "why cluster-gateway"},
		"a cluster":                 {command: "why -n cluster01"},
		"all victims":               {command: "why -o wide"},
		"data":                      {command: "why -o json"},
		"--live":                    {command: "why --live"},
		"the summary of an add-on":  {command: "status --summary cluster-gateway"},
		"the summary of a cluster":  {command: "status --summary -n cluster01"},
		"a summary with a selector": {command: "status --summary -l vendor=OpenShift"},
		"a summary as data":         {command: "status --summary -o yaml"},
		"a hub that fails":          {command: "why", refusal: http.StatusInternalServerError, requested: true, want: "exit code 3"},
		"--live without a summary":  {command: "status -A --live", want: "--live: only with --summary"},
		"--live with a file":        {command: "why --live --from fleet.json", want: "--live and --from: choose one"},
		"a summary of a file, live": {command: "status --summary --live --from fleet.json", want: "--live and --from: choose one"},
	} {
		t.Run(name, func(t *testing.T) {
			h := withReport(t, hub())
			if h.refusal = test.refusal; test.lease != nil {
				h.leases = []coordinationv1.Lease{*test.lease}
			}
			server := h.serve(t)
			got := run(t, append(strings.Fields(test.command), "--server", server)...)
			if reported := strings.Contains(got, "As addon-manager observed it"); reported != test.reported {
				t.Errorf("the report is used: %t, want %t:\n%s", reported, test.reported, got)
			}
			if requested := h.reads["fleet"] > 0; requested != test.requested {
				t.Errorf("the report was requested: %t, want %t", requested, test.requested)
			}
			if !strings.Contains(got, test.want) || test.want == "" && strings.Contains(got, "exit code") {
				t.Errorf("want %q in:\n%s", test.want, got)
			}
		})
	}
}

// TestStoredReportNamesExamples tests a cause on more clusters than the report names: the commands have its examples, and say so.
func TestStoredReportNamesExamples(t *testing.T) {
	content := snapshot.Content{Taken: fixture.Now.Time, Registrations: fixture.Registrations("a: b, b")}
	for i := range 40 {
		name := fmt.Sprintf("cluster%02d", i)
		content.Clusters = append(content.Clusters, managedCluster(name, true, true))
		content.AddOns = append(content.AddOns, installed(name, "a", false, addonv1alpha1.AddonDegradedReasonRequiredDependencyNotSatisfied, i))
	}
	h := withReport(t, content)
	got := run(t, "why", "--server", h.serve(t))
	for _, want := range []string{
		"1 root cause of add-ons on 40 managed clusters:",
		"breaks     40 of 40 managed clusters, 40 of 40 add-ons: a (40)",
		"note       the command is for 3 of 40 managed clusters: kubectl addon why --live names all",
		"run        clusteradm addon enable --names b --clusters cluster39,cluster00,cluster01",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("want %q in:\n%s", want, got)
		}
	}
	var clusters []string
	for _, read := range slices.Sorted(maps.Keys(h.reads)) {
		if cluster, ok := strings.CutPrefix(read, "managedclusteraddons "); ok {
			clusters = append(clusters, cluster)
		}
	}
	if fmt.Sprint(clusters) != "[cluster00 cluster01 cluster39]" {
		t.Errorf("%q were read", clusters)
	}
}

// TestStoredReportCountsWhatItLeavesOut tests that people are told what a report lacks.
func TestStoredReportCountsWhatItLeavesOut(t *testing.T) {
	h := withReport(t, hub())
	h.report.Summary.RootCauses = 12
	h.report.Summary.LeftOut.RootCauses, h.report.Summary.LeftOut.Edges = 10, 7
	h.report.Summary.Detached = 2
	h.report.RootCauses[0].Verdict = "Conflict"
	h.report.Unexplained = append(h.report.Unexplained, dependencyv1alpha1.UnexplainedAddOns{
		State: dependencyv1alpha1.Removing, AddOns: 4, AddOn: "a", Cluster: "cluster01", Reason: "a on cluster01 is being removed",
	})
	server := h.serve(t)
	for command, want := range map[string][]string{
		"why": {
			"12 root causes of add-ons", "10 more root causes\nrun   kubectl addon why --live",
			"2 managed clusters are being detached, and left out", "4 add-ons are being removed: a on cluster01 is being removed",
			"repair     kubectl addon why --live shows what the obvious repair would break",
		},
		"status --summary": {"The report leaves out 7 rows of dependencies and 0 rows of waits: kubectl addon status --summary --live"},
	} {
		got := run(t, append(strings.Fields(command), "--server", server)...)
		for _, text := range want {
			if !strings.Contains(got, text) {
				t.Errorf("%s: want %q in:\n%s", command, text, got)
			}
		}
	}
}
