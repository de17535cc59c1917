package facts

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/prometheus/client_golang/prometheus"
	coordinationv1 "k8s.io/api/coordination/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/agent"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
	"open-cluster-management.io/interlock/test/testenv"
)

// cluster is a managed cluster of one spec: a namespace on the hub, and a namespace of the same name on the managed cluster, in which
// its add-ons run.
type cluster struct {
	name                 string
	hubUser, managedUser *rest.Config
	onHub, onManaged     traffic
	metrics              *prometheus.Registry
	// agentAddOn is the add-on as which the agent runs. It is empty if the agent is no add-on.
	agentAddOn string
	agentStop  context.CancelFunc
	agentEnded chan error
}

// traffic counts the requests to one API server: writes, discovery requests, reads of schemas, lists that are limited to one object,
// and refused requests. It also counts the open watches on definitions, and the writes of ManagedClusterFacts, with the number of such
// writes that are in flight now and at most.
type traffic struct{ writes, discoveries, schemas, singleLists, refusals, openWatches, facts, factsNow, factsMost atomic.Int64 }

// beginWrite counts a write of ManagedClusterFacts. The returned function ends it.
func (t *traffic) beginWrite(r *http.Request) func() {
	if r.Method == http.MethodGet || !strings.Contains(r.URL.Path, "/managedclusterfacts") {
		return func() {}
	}
	t.facts.Add(1)
	inFlight := t.factsNow.Add(1)
	for maximum := t.factsMost.Load(); inFlight > maximum && !t.factsMost.CompareAndSwap(maximum, inFlight); maximum = t.factsMost.Load() {
		continue
	}
	return func() { t.factsNow.Add(-1) }
}

func (t *traffic) watch(config *rest.Config) *rest.Config {
	counting := rest.CopyConfig(config)
	counting.Wrap(func(transport http.RoundTripper) http.RoundTripper {
		return roundTripper(func(r *http.Request) (*http.Response, error) {
			endWrite := t.beginWrite(r)
			response, err := transport.RoundTrip(r)
			endWrite()
			if r.Method != http.MethodGet {
				t.writes.Add(1)
			}
			if strings.HasPrefix(r.URL.Path, "/apis/") && strings.Count(r.URL.Path, "/") <= 3 {
				t.discoveries.Add(1)
			}
			if strings.HasPrefix(r.URL.Path, "/openapi/v3/") {
				t.schemas.Add(1)
			}
			if r.URL.Query().Get("limit") == "1" {
				t.singleLists.Add(1)
			}
			if err == nil && response.StatusCode == http.StatusForbidden {
				t.refusals.Add(1)
			}
			if err == nil && strings.Count(r.URL.Path, "/") == 4 && r.URL.Query().Get("watch") == "true" {
				t.openWatches.Add(1)
				response.Body = &countedBody{ReadCloser: response.Body, open: &t.openWatches}
			}
			return response, err
		})
	})
	return counting
}

// countedBody is the body of a watch. Its watch counts as open until the body is closed.
type countedBody struct {
	io.ReadCloser
	open    *atomic.Int64
	closing sync.Once
}

func (c *countedBody) Close() error {
	c.closing.Do(func() { c.open.Add(-1) })
	return c.ReadCloser.Close()
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

var nameCount int

// unique returns a name that no other spec uses.
func unique(prefix string) string {
	nameCount++
	return fmt.Sprintf("%s-%d", prefix, nameCount)
}

// newCluster creates a cluster whose agent has the permissions that are deployed.
func newCluster(ctx context.Context) *cluster {
	GinkgoHelper()
	c := &cluster{name: unique("cluster"), metrics: prometheus.NewRegistry()}
	for _, clusterClient := range []client.Client{hub, managed} {
		Expect(clusterClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: c.name}})).To(Succeed())
	}
	user := "agent-of-" + c.name
	subjects := []rbacv1.Subject{{APIGroup: rbacv1.GroupName, Kind: rbacv1.UserKind, Name: user}}
	role := &rbacv1.Role{}
	load("../../../deploy/agent/hub-role.yaml", role)
	role.Namespace = c.name
	Expect(hub.Create(ctx, role)).To(Succeed())
	Expect(hub.Create(ctx, &rbacv1.RoleBinding{
		ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: user}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: role.Name},
	})).To(Succeed())
	clusterRole := &rbacv1.ClusterRole{}
	load("../../../deploy/agent/managed-clusterrole.yaml", clusterRole)
	Expect(client.IgnoreAlreadyExists(managed.Create(ctx, clusterRole))).To(Succeed())
	Expect(managed.Create(ctx, &rbacv1.ClusterRoleBinding{
		ObjectMeta: metav1.ObjectMeta{Name: user}, Subjects: subjects,
		RoleRef: rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "ClusterRole", Name: clusterRole.Name},
	})).To(Succeed())
	c.hubUser, c.managedUser = addUser(fleet.Hub, user), addUser(fleet.Managed[0], user)
	return c
}

func addUser(cluster *testenv.Cluster, name string) *rest.Config {
	GinkgoHelper()
	user, err := cluster.AddUser(name)
	Expect(err).NotTo(HaveOccurred())
	return user.Config
}

func load(path string, target any) {
	GinkgoHelper()
	content, err := os.ReadFile(path)
	Expect(err).NotTo(HaveOccurred())
	Expect(yaml.UnmarshalStrict(content, target)).To(Succeed())
}

// startAgent runs the cluster's agent until stopAgent or the end of the spec.
func (c *cluster) startAgent() {
	GinkgoHelper()
	mgr, err := agent.NewManager(
		agent.Clusters{Hub: c.onHub.watch(c.hubUser), Managed: c.onManaged.watch(c.managedUser)},
		agent.Options{
			Cluster: c.name, GracePeriod: time.Hour, MetricsAddress: "0", HealthAddress: "0",
			Registry: c.metrics, Unnamed: true,
			OwnLease: types.NamespacedName{Namespace: c.name, Name: c.agentAddOn},
		})
	Expect(err).NotTo(HaveOccurred())
	ctx, stop := context.WithCancel(context.Background())
	exit := make(chan error, 1)
	go func() { exit <- mgr.Start(ctx) }()
	c.agentStop, c.agentEnded = stop, exit
	DeferCleanup(func() {
		if c.agentStop != nil {
			c.stopAgent()
		}
	})
}

func (c *cluster) stopAgent() {
	GinkgoHelper()
	c.agentStop()
	Eventually(c.agentEnded).WithTimeout(40 * time.Second).Should(Receive(BeNil()))
	c.agentStop, c.metrics = nil, prometheus.NewRegistry()
}

func (c *cluster) key() types.NamespacedName {
	return types.NamespacedName{Namespace: c.name, Name: c.name}
}

// request writes the requested facts, as the hub does.
func (c *cluster) request(ctx context.Context, spec dependencyv1alpha1.ManagedClusterFactsSpec) {
	GinkgoHelper()
	facts := &dependencyv1alpha1.ManagedClusterFacts{}
	err := hub.Get(ctx, c.key(), facts)
	if apierrors.IsNotFound(err) {
		facts = &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: c.name}, Spec: spec}
		Expect(hub.Create(ctx, facts)).To(Succeed())
		return
	}
	Expect(err).NotTo(HaveOccurred())
	facts.Spec = spec
	Expect(hub.Update(ctx, facts)).To(Succeed())
}

// facts reads the stored ManagedClusterFacts. It is for Eventually.
func (c *cluster) facts(ctx context.Context) func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
	return func() (*dependencyv1alpha1.ManagedClusterFacts, error) {
		facts := &dependencyv1alpha1.ManagedClusterFacts{}
		return facts, hub.Get(ctx, c.key(), facts)
	}
}

// requestedNames returns the kinds and add-ons that are requested.
func (c *cluster) requestedNames(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		facts, err := c.facts(ctx)()
		if err != nil {
			return nil, err
		}
		var names []string
		for _, api := range facts.Spec.APIs {
			names = append(names, api.Kind)
		}
		for _, addOn := range facts.Spec.AddOns {
			names = append(names, addOn.Name)
		}
		return names, nil
	}
}

// reportedLines returns the facts that the agent has reported, one line for each. It returns none until the agent has observed the current
// request.
func (c *cluster) reportedLines(ctx context.Context) func() ([]string, error) {
	return func() ([]string, error) {
		facts, err := c.facts(ctx)()
		if err != nil {
			return nil, err
		}
		if facts.Status.ObservedGeneration != facts.Generation {
			return nil, nil
		}
		return lines(facts.Status), nil
	}
}

func lines(status dependencyv1alpha1.ManagedClusterFactsStatus) []string {
	var lines []string
	for _, fact := range status.APIs {
		lines = append(
			lines,
			strings.TrimSpace(fmt.Sprintf("%s %s %s %s", fact.Kind, fact.Served, strings.Join(fact.Versions, ","), fact.Reason)),
		)
	}
	for _, fact := range status.AddOns {
		lines = append(lines, strings.TrimSpace(fmt.Sprintf("%s %s%s", fact.Name, fact.Version, fact.Reason)))
	}
	return lines
}

// install creates an add-on that keeps its lease in the cluster's namespace.
func (c *cluster) install(ctx context.Context, addOn string) {
	GinkgoHelper()
	object := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: addOn}}
	object.Spec.InstallNamespace = c.name //nolint:staticcheck // deprecated, and still where OCM installs an add-on
	Expect(hub.Create(ctx, object)).To(Succeed())
}

func (c *cluster) uninstall(ctx context.Context, addOn string) {
	GinkgoHelper()
	Expect(hub.Delete(ctx, &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: addOn}})).To(Succeed())
}

// run renews the lease of an add-on, with the version that its agent reports.
func (c *cluster) run(ctx context.Context, addOn, version string) {
	GinkgoHelper()
	renewTime := metav1.NewMicroTime(time.Now())
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: addOn}}
	err := managed.Get(ctx, client.ObjectKeyFromObject(lease), lease)
	Expect(client.IgnoreNotFound(err)).To(Succeed())
	lease.Annotations = nil
	if version != "" {
		lease.Annotations = map[string]string{addonv1alpha1.AddOnVersionAnnotation: version}
	}
	lease.Spec.RenewTime = &renewTime
	if err != nil {
		Expect(managed.Create(ctx, lease)).To(Succeed())
		return
	}
	Expect(managed.Update(ctx, lease)).To(Succeed())
}

// meddle merges fields into the stored status, as a foreign writer could.
func (c *cluster) meddle(ctx context.Context, status map[string]any) {
	GinkgoHelper()
	patch, err := json.Marshal(map[string]any{"status": status})
	Expect(err).NotTo(HaveOccurred())
	facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: c.name}}
	Expect(hub.Status().Patch(ctx, facts, client.RawPatch(types.MergePatchType, patch), client.FieldOwner("somebody"))).To(Succeed())
}

func must[T any](read func() (T, error)) T {
	GinkgoHelper()
	value, err := read()
	Expect(err).NotTo(HaveOccurred())
	return value
}
