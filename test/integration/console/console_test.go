package console

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"open-cluster-management.io/interlock/test/setup"
)

var _ = Describe("addon-manager console with the rights of deploy/console", Ordered, func() {
	var (
		console               served
		all, one, two, nobody string
	)
	BeforeAll(func(ctx context.Context) {
		all, one, two, nobody = signUp(ctx, "all"), signUp(ctx, "one", "interlock-console"), signUp(ctx, "two"), signUp(ctx, "nobody")
		grantAll(ctx, "all")
		grantClusters(ctx, "one", "cluster1")
		grantClusters(ctx, "two", "cluster1", "cluster2")
		console = start(ctx)
	})

	It("shows each viewer what the viewer's rights allow", func(ctx context.Context) {
		Expect(console.get(ctx, "", "/")).To(And(HavePrefix("200"), ContainSubstring("app.js")))
		Expect(console.get(ctx, "", "/api/events")).To(HavePrefix(`401 Bearer realm="hub"sign in`))
		Expect(console.get(ctx, "garbage", "/api/events")).To(And(HavePrefix("401"), ContainSubstring("does not accept this token")))
		Expect(console.get(ctx, signUp(ctx, "elsewhere", "https://other.example"), "/api/events")).To(HavePrefix("401"))
		Expect(console.get(ctx, nobody, "/api/events")).To(And(HavePrefix("403"),
			ContainSubstring(`the right to list clustermanagementaddons in API group "addon.open-cluster-management.io"`)))
		grant(ctx, "nobody", listRegistrations)
		Eventually(func() string { return console.get(ctx, nobody, "/api/graph") }).WithTimeout(20 * time.Second).Should(And(HavePrefix("403"),
			ContainSubstring("the right to list managedclusteraddons"), ContainSubstring("and to get managedclusters")))

		Eventually(console.open(ctx, all)).Should(Receive(And(HavePrefix("overview"), ContainSubstring("cluster1"), ContainSubstring("cluster3"),
			ContainSubstring(`"clusters":3`), Not(ContainSubstring("no right")))))
		Expect(console.get(ctx, all, "/api/cluster?name=cluster3")).To(And(HavePrefix("200"), ContainSubstring("gateway")))

		Eventually(console.open(ctx, one)).Should(Receive(And(ContainSubstring("cluster1"), ContainSubstring(`"clusters":1`),
			Not(ContainSubstring("cluster2")), Not(ContainSubstring("cluster3")))))
		for _, path := range []string{"/api/graph", "/api/impact?addon=monitor", "/api/cluster?name=cluster1"} {
			Expect(console.get(ctx, one, path)).To(And(HavePrefix("200"), Not(Or(ContainSubstring("cluster2"), ContainSubstring("cluster3")))), path)
		}
		Expect(console.get(ctx, one, "/api/cluster?name=cluster2")).To(HavePrefix("404"))
	})

	It("refuses another host", func(ctx context.Context) {
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, console.address, http.NoBody)
		Expect(err).NotTo(HaveOccurred())
		request.Host = "attacker.example"
		response, err := browser.Do(request)
		Expect(err).NotTo(HaveOccurred())
		Expect(response.Body.Close()).To(Succeed())
		Expect(response.StatusCode).To(Equal(http.StatusMisdirectedRequest))
	})

	It("serves the streams of all tabs of a browser over one connection", func(ctx context.Context) {
		response := console.request(ctx, all, "/api/events")
		DeferCleanup(response.Body.Close)
		Expect(response.ProtoMajor).To(Equal(2))
	})

	It("pushes a change to 20 viewers, with one watch of each resource", func(ctx context.Context) {
		streams := make([]<-chan string, 20)
		for i := range streams {
			streams[i] = console.open(ctx, []string{all, one, two}[i%3])
			Eventually(streams[i]).Should(Receive())
		}
		changed := time.Now()
		setAvailable(ctx, "cluster1", "monitor", metav1.ConditionFalse, "broke down")
		for i := range streams {
			Eventually(streams[i]).Should(Receive(ContainSubstring(`{"state":"Down","count":1}`)))
		}
		AddReportEntry("a change was with 20 viewers after", time.Since(changed).Round(time.Millisecond).String(), ReportEntryVisibilityAlways)
		for resource, count := range watches(ctx) {
			Expect(count).To(Equal(1), resource)
		}
		Expect(console.get(ctx, two, "/api/cluster?name=cluster1")).To(ContainSubstring("broke down"))
		setAvailable(ctx, "cluster1", "monitor", metav1.ConditionTrue, "works again")
	})

	It("shows fewer clusters when a right is withdrawn, and ends with the last", func(ctx context.Context) {
		stream := console.open(ctx, two)
		Eventually(stream).Should(Receive(ContainSubstring("cluster2")))
		Expect(admin.Delete(ctx, &rbacv1.RoleBinding{ObjectMeta: metav1.ObjectMeta{Namespace: "cluster2", Name: "two"}})).To(Succeed())
		Eventually(stream).WithTimeout(10 * time.Second).Should(Receive(And(ContainSubstring("cluster1"), Not(ContainSubstring("cluster2")))))
		Expect(admin.Delete(ctx, &rbacv1.ClusterRoleBinding{ObjectMeta: metav1.ObjectMeta{Name: "two"}})).To(Succeed())
		Eventually(stream).WithTimeout(10 * time.Second).Should(BeClosed())
		Expect(console.get(ctx, two, "/api/events")).To(HavePrefix("403"))
	})

	It("ends when a token is no longer valid", func(ctx context.Context) {
		stream := console.open(ctx, one)
		Eventually(stream).Should(Receive())
		Expect(admin.Delete(ctx, &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "viewers", Name: "one"}})).To(Succeed())
		// The API server itself keeps the response to a token for 10 seconds.
		Eventually(stream).WithTimeout(25 * time.Second).Should(BeClosed())
		Expect(console.get(ctx, one, "/api/events")).To(HavePrefix("401"))
	})

	It("stops cleanly, and has had all rights that it needs, and no other", func(ctx context.Context) {
		stream := console.open(ctx, all)
		Eventually(stream).Should(Receive())
		Eventually(console.Terminate()).WithTimeout(10 * time.Second).Should(gexec.Exit(0))
		Eventually(stream).Should(BeClosed())
		Expect(console.Err).NotTo(gbytes.Say("(?i)forbidden"))
		Expect(string(console.Err.Contents())).NotTo(ContainSubstring(all))
		Expect(unusedRights()).To(BeEmpty())
	})

	It("shows that the hub is away, and serves its probes meanwhile", func(ctx context.Context) {
		console = start(ctx)
		stream := console.open(ctx, all)
		Eventually(stream).Should(Receive())
		Expect(hub.StopAPIServer()).To(Succeed())
		Eventually(stream).WithTimeout(30 * time.Second).Should(Receive(HavePrefix("trouble")))
		Expect(console.probe(ctx, "/readyz")()).To(Equal(http.StatusOK))
		Expect(console.probe(ctx, "/healthz")()).To(Equal(http.StatusOK))
		Expect(hub.StartAPIServer()).To(Succeed())
		Eventually(stream).WithTimeout(60 * time.Second).Should(Receive(HavePrefix("overview")))
	})
})

// watches returns the number of watches that the hub serves of each resource that the console may watch.
func watches(ctx context.Context) map[string]int {
	GinkgoHelper()
	hubClient, err := kubernetes.NewForConfig(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	metrics, err := hubClient.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	counts := map[string]int{}
	for _, rule := range clusterRole().Rules {
		for _, resource := range rule.Resources {
			if rule.Verbs[len(rule.Verbs)-1] == "watch" {
				counts[resource] = 0
			}
		}
	}
	Expect(counts).To(HaveLen(10))
	for line := range strings.Lines(string(metrics)) {
		if !strings.HasPrefix(line, "apiserver_longrunning_requests{") || !strings.Contains(line, `verb="WATCH"`) {
			continue
		}
		_, rest, _ := strings.Cut(line, `resource="`)
		resource, _, _ := strings.Cut(rest, `"`)
		if _, ok := counts[resource]; ok {
			count, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndex(line, " "):]))
			Expect(err).NotTo(HaveOccurred())
			counts[resource] += count
		}
	}
	return counts
}

func clusterRole() *rbacv1.ClusterRole {
	GinkgoHelper()
	role := &rbacv1.ClusterRole{}
	setup.Read("console/clusterrole.yaml", role)
	return role
}

// unusedRights returns the rights of deploy/console that no request of the console has used, and the requests that were denied.
func unusedRights() []string {
	GinkgoHelper()
	used, denied := map[string]bool{}, []string{}
	content, err := os.ReadFile(auditLog)
	Expect(err).NotTo(HaveOccurred())
	for line := range strings.Lines(string(content)) {
		var event struct {
			Verb           string
			ObjectRef      struct{ Resource string }
			ResponseStatus struct{ Code int }
		}
		Expect(json.Unmarshal([]byte(line), &event)).To(Succeed())
		request := event.Verb + " " + event.ObjectRef.Resource
		used[request] = true
		if event.ResponseStatus.Code == http.StatusForbidden {
			denied = append(denied, "denied: "+request)
		}
	}
	role := &rbacv1.Role{}
	setup.Read("console/role.yaml", role)
	unused := denied
	for _, rule := range append(clusterRole().Rules, role.Rules...) {
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				// An informer lists and watches. It may do both in one request.
				streamed := verb == "list" && used["watch "+resource]
				if right := verb + " " + resource; !used[right] && !streamed {
					unused = append(unused, right)
				}
			}
		}
	}
	return unused
}
