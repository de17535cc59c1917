package cli

import (
	"bufio"
	"context"
	"encoding/json"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gbytes"
	"github.com/onsi/gomega/gexec"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	clusterv1 "open-cluster-management.io/api/cluster/v1"

	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/report/overview"
)

var _ = Describe("kubectl addon ui", func() {
	It("pushes each change to all viewers, with one watch of the hub", func(ctx context.Context) {
		cluster := &clusterv1.ManagedCluster{ObjectMeta: metav1.ObjectMeta{Name: "viewed", Labels: map[string]string{"viewed": "yes"}}}
		Expect(hubClient.Create(ctx, cluster)).To(Succeed())
		meta.SetStatusCondition(&cluster.Status.Conditions, metav1.Condition{
			Type: clusterv1.ManagedClusterConditionAvailable, Status: metav1.ConditionTrue, Reason: "Tested",
		})
		Expect(hubClient.Status().Update(ctx, cluster)).To(Succeed())
		Expect(hubClient.Create(ctx, &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: cluster.Name}})).To(Succeed())
		addOn := &addonv1alpha1.ManagedClusterAddOn{ObjectMeta: metav1.ObjectMeta{Namespace: cluster.Name, Name: "seen"}}
		Expect(hubClient.Create(ctx, addOn)).To(Succeed())

		session, err := gexec.Start(exec.Command(plugin, "--kubeconfig", hub.Kubeconfig(), "ui", "-l", "viewed=yes"), GinkgoWriter, GinkgoWriter)
		Expect(err).NotTo(HaveOccurred())
		DeferCleanup(session.Kill)
		Eventually(session.Out).Should(gbytes.Say("Ctrl-C ends it"))
		address, token, ok := strings.Cut(strings.Fields(string(session.Out.Contents()))[1], "/#token=")
		Expect(ok).To(BeTrue())

		first := view(ctx, address, token)
		Eventually(first).Should(Receive())
		Eventually(watches).WithContext(ctx).Should(BeNumerically(">", 0))
		before := watches(ctx)
		viewers := make([]<-chan overview.Overview, 20)
		for i := range viewers {
			viewers[i] = view(ctx, address, token)
			Eventually(viewers[i]).Should(Receive(HaveField("AddOns", ContainElement(overview.StateCount{State: overview.Unreported, Count: 1}))))
		}
		changed := time.Now()
		meta.SetStatusCondition(&addOn.Status.Conditions, metav1.Condition{Type: "Available", Status: metav1.ConditionTrue, Reason: "Tested"})
		Expect(hubClient.Status().Update(ctx, addOn)).To(Succeed())
		for i := range viewers {
			Eventually(viewers[i]).Should(Receive(HaveField("AddOns", ContainElement(overview.StateCount{State: overview.Working, Count: 1}))))
		}
		AddReportEntry("a change was with 20 viewers after", time.Since(changed).Round(time.Millisecond).String(), ReportEntryVisibilityAlways)
		Expect(watches(ctx)).To(BeNumerically("<=", before)) // the watches of specs before may end meanwhile
		Eventually(session.Interrupt()).Should(gexec.Exit(0))
	})
})

// watches returns the number of watches of add-ons that the hub serves.
func watches(ctx context.Context) int {
	client, err := kubernetes.NewForConfig(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	metrics, err := client.RESTClient().Get().AbsPath("/metrics").DoRaw(ctx)
	Expect(err).NotTo(HaveOccurred())
	count := 0
	for line := range strings.Lines(string(metrics)) {
		if strings.HasPrefix(line, "apiserver_longrunning_requests{") && strings.Contains(line, `resource="managedclusteraddons"`) &&
			strings.Contains(line, `verb="WATCH"`) {
			served, err := strconv.Atoi(strings.TrimSpace(line[strings.LastIndex(line, " "):]))
			Expect(err).NotTo(HaveOccurred())
			count += served
		}
	}
	return count
}

// view receives the overviews that a viewer gets, latest last.
func view(ctx context.Context, address, token string) <-chan overview.Overview {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, address+"/api/events", nil)
	Expect(err).NotTo(HaveOccurred())
	request.Header.Set("Authorization", "Bearer "+token)
	response, err := http.DefaultClient.Do(request) //nolint:bodyclose // the goroutine closes it
	Expect(err).NotTo(HaveOccurred())
	Expect(response.StatusCode).To(Equal(http.StatusOK))
	received := make(chan overview.Overview, 100)
	go func() {
		defer response.Body.Close()
		lines := bufio.NewScanner(response.Body)
		lines.Buffer(nil, 16<<20)
		for lines.Scan() {
			if data, ok := strings.CutPrefix(lines.Text(), "data: {"); ok {
				var current overview.Overview
				if json.Unmarshal([]byte("{"+data), &current) == nil {
					received <- current
				}
			}
		}
	}()
	return received
}
