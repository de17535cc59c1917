package facts

import (
	"context"
	"strconv"
	"strings"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/discovery"

	dependencyv1alpha1 "open-cluster-management.io/interlock/pkg/apis/dependency/v1alpha1"
)

var _ = Describe("ManagedClusterFacts", func() {
	It("show in a table how many facts are requested and reported", func(ctx context.Context) {
		c := newCluster(ctx)
		c.request(ctx, questions{
			APIs: []apiRequest{{API: api{Kind: "Pod"}}, {API: api{Group: "none.example.com", Kind: "Widget"}}}, AddOns: []addOn{{Name: "proxy"}},
		})
		c.startAgent()
		Eventually(c.reportedLines(ctx)).Should(HaveLen(3))

		client, err := discovery.NewDiscoveryClientForConfig(fleet.Hub.Config)
		Expect(err).NotTo(HaveOccurred())
		table := &metav1.Table{}
		Expect(client.RESTClient().Get().
			AbsPath("/apis/dependency.addon.open-cluster-management.io/v1alpha1/namespaces", c.name, "managedclusterfacts").
			SetHeader("Accept", "application/json;as=Table;v=v1;g=meta.k8s.io").Do(ctx).Into(table)).To(Succeed())
		var columns []string
		for _, column := range table.ColumnDefinitions {
			columns = append(columns, column.Name)
		}
		Expect(columns).To(HaveExactElements("Name", "APIs served", "Versions known", "Requested", "Reported", "Age"))
		Expect(table.Rows).To(HaveLen(1))
		Expect(table.Rows[0].Cells[:5]).To(HaveExactElements(Equal(c.name), Equal("1/2"), Equal("0/1"), BeEquivalentTo(1), BeEquivalentTo(1)))
	})

	DescribeTable("accept only requests that an agent can answer", func(ctx context.Context, change func(*questions)) {
		c := newCluster(ctx)
		facts := &dependencyv1alpha1.ManagedClusterFacts{ObjectMeta: metav1.ObjectMeta{Namespace: c.name, Name: c.name}}
		change(&facts.Spec)
		Expect(hub.Create(ctx, facts)).To(Satisfy(apierrors.IsInvalid))
	},
		Entry("too many APIs", func(q *questions) {
			for i := range dependencyv1alpha1.MaxRequests + 1 {
				q.APIs = append(q.APIs, apiRequest{API: api{Kind: "K" + strconv.Itoa(i)}})
			}
		}),
		Entry("too many add-ons", func(q *questions) {
			for i := range dependencyv1alpha1.MaxRequests + 1 {
				q.AddOns = append(q.AddOns, addOn{Name: "a" + strconv.Itoa(i)})
			}
		}),
		Entry("a path for a group", func(q *questions) { q.APIs = []apiRequest{{API: api{Group: "../api", Kind: "Pod"}}} }),
		Entry("a path for a version", func(q *questions) {
			q.APIs = []apiRequest{{API: api{Group: "apps", Version: "v1/../..", Kind: "Deployment"}}}
		}),
		Entry("no kind", func(q *questions) { q.APIs = []apiRequest{{API: api{Group: "apps"}}} }),
		Entry("no name", func(q *questions) { q.AddOns = []addOn{{}} }),
		Entry("a name that is longer than any object's", func(q *questions) { q.AddOns = []addOn{{Name: strings.Repeat("a", 254)}} }),
	)
})
