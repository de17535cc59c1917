package placements

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gexec"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/manifests"
	addonv1alpha1 "open-cluster-management.io/interlock/pkg/apis/addon/v1alpha1"
	"open-cluster-management.io/interlock/pkg/fleet"
	"open-cluster-management.io/interlock/pkg/names"
)

const (
	deployFolder = "../../../deploy/"
	// interlock is the namespace of Interlock's components.
	interlock = "interlock-system"
)

func readManifest(path string) string {
	GinkgoHelper()
	content, err := os.ReadFile(deployFolder + path)
	Expect(err).NotTo(HaveOccurred())
	return string(content)
}

// grant gives the user reader only the roles that ship.
func grant(ctx context.Context) {
	create(ctx, "{apiVersion: v1, kind: Namespace, metadata: {name: "+interlock+"}}")
	for kind, file := range map[string]string{"ClusterRole": "clusterrole.yaml", "Role": "role.yaml"} {
		namespace := ""
		if kind == "Role" {
			namespace = ", namespace: " + interlock
		}
		deploy(ctx, interlock, readManifest("plugin-reader/"+file))
		create(ctx, `{apiVersion: rbac.authorization.k8s.io/v1, kind: `+kind+`Binding, metadata: {name: reader`+namespace+`},
			roleRef: {apiGroup: rbac.authorization.k8s.io, kind: `+kind+`, name: interlock-plugin-reader},
			subjects: [{apiGroup: rbac.authorization.k8s.io, kind: User, name: reader}]}`)
	}
}

// deploy creates an object of a kustomization, in a namespace if the kind is namespaced.
func deploy(ctx context.Context, namespace, manifest string) {
	GinkgoHelper()
	object := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal([]byte(manifest), &object.Object)).To(Succeed())
	if isNamespaced, err := hub.Client.IsObjectNamespaced(object); err == nil && isNamespaced {
		object.SetNamespace(namespace)
	}
	Eventually(func() error { return hub.Client.Create(ctx, object) }).Should(Succeed(), manifest) // OCM makes the namespaces
	DeferCleanup(func(ctx context.Context) error { return client.IgnoreNotFound(hub.Client.Delete(ctx, object)) })
}

// recorder is a proxy that records the requests of the plugin, and those that are refused.
type recorder struct {
	*httptest.Server
	mutex    sync.Mutex
	requests []request.RequestInfo
	refusals []string
}

func newRecorder() *recorder {
	GinkgoHelper()
	target, err := url.Parse(hub.Config.Host)
	Expect(err).NotTo(HaveOccurred())
	transport, err := rest.TransportFor(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	r := &recorder{}
	resolver := &request.RequestInfoFactory{APIPrefixes: sets.NewString("api", "apis"), GrouplessAPIPrefixes: sets.NewString("api")}
	proxy := &httputil.ReverseProxy{
		Rewrite: func(request *httputil.ProxyRequest) { request.SetURL(target) }, Transport: transport, FlushInterval: -1,
		ModifyResponse: func(response *http.Response) error {
			info, err := resolver.NewRequestInfo(response.Request)
			if err != nil || !info.IsResourceRequest {
				return err
			}
			r.mutex.Lock()
			defer r.mutex.Unlock()
			r.requests = append(r.requests, *info)
			if response.StatusCode == http.StatusForbidden {
				r.refusals = append(r.refusals, strings.Join([]string{info.Verb, info.Resource, info.Namespace, info.Name}, " "))
			}
			return nil
		},
	}
	r.Server = httptest.NewServer(proxy)
	DeferCleanup(r.Close)
	return r
}

// needed reports whether a request needed a right.
func (r *recorder) needed(group, resource, verb, name string) bool {
	r.mutex.Lock()
	defer r.mutex.Unlock()
	return slices.ContainsFunc(r.requests, func(info request.RequestInfo) bool {
		return info.APIGroup == group && info.Resource == resource && info.Verb == verb && (name == "" || info.Name == name)
	})
}

// unused returns the rights of a role that no request needed.
func (r *recorder) unused(file string) (unused []string) {
	GinkgoHelper()
	var role rbacv1.Role
	Expect(yaml.UnmarshalStrict([]byte(readManifest("plugin-reader/"+file)), &role)).To(Succeed())
	for _, rule := range role.Rules {
		names := rule.ResourceNames
		if len(names) == 0 {
			names = []string{""}
		}
		for _, resource := range rule.Resources {
			for _, verb := range rule.Verbs {
				for _, name := range names {
					if !r.needed(rule.APIGroups[0], resource, verb, name) {
						unused = append(unused, fmt.Sprintf("%s: %s %s %s", file, verb, resource, name))
					}
				}
			}
		}
	}
	return unused
}

// needsAll has every kind of dependency that a declaration can have, so that the plugin reads all of them.
const needsAll = `
apiVersion: addon.open-cluster-management.io/v1alpha1
kind: ClusterManagementAddOn
metadata:
  name: needy
  annotations:
    addon.open-cluster-management.io/dependencies: |
      dependencies:
      - name: certs
        version: ">= 1.0"
      - name: certificates
        api: {group: example.com, kind: Certificate}
      - name: app
        when: {expression: 'config["app"] == "yes"'}
      - name: certs-by-label
        install: Auto
      requirements: {ocm: ">= 1.0"}
spec:
  supportedConfigs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, defaultConfig: {namespace: d, name: any}}]
`

var _ = Describe("deploy/plugin-reader", func() {
	It("has exactly the permissions that all verbs need", func(ctx context.Context) {
		deploy(ctx, "", needsAll)
		deploy(ctx, "d", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterAddOn, metadata: {name: needy}, spec: {
			configs: [{group: addon.open-cluster-management.io, resource: addondeploymentconfigs, namespace: d, name: any}]}}`)
		deploy(ctx, "d", `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: ManagedClusterFacts, metadata: {name: d}}`)
		deploy(ctx, "d", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: AddOnDeploymentConfig, metadata: {name: any},
			spec: {customizedVariables: [{name: app, value: "no"}]}}`)
		deploy(ctx, "", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: on-demand,
			annotations: {dependency.addon.open-cluster-management.io/install-on-demand: "true"}}, spec: {}}`)
		deploy(ctx, "", `{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: certs-by-label},
			spec: {installStrategy: {type: Placements, placements: [{name: any, namespace: places}]}}}`)
		deploy(ctx, "d", `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnInstallation, metadata: {name: on-demand},
			spec: {requestedBy: [{addOn: needy, removal: Keep}]}}`)
		deploy(ctx, "", `{apiVersion: dependency.addon.open-cluster-management.io/v1alpha1, kind: AddOnDependencyPolicy, metadata: {name: edge},
			spec: {overrides: [{addOn: needy, dependency: certs, type: Optional}]}}`)
		awaitConfig(ctx, "d", "needy")
		createInterlockParts(ctx)
		recorder := newRecorder()
		GinkgoT().Setenv("KUBECONFIG", filepath.Join(GinkgoT().TempDir(), "none"))
		reader := []string{"--server", recorder.URL, "--as", "reader"}
		runVerbs := func(verbs ...string) {
			for _, verb := range verbs {
				command := exec.Command(plugin, append(strings.Fields(verb), reader...)...)
				out, err := command.CombinedOutput()
				GinkgoWriter.Printf("%s (%v):\n%s\n", verb, err, out)
				Expect(string(out)).NotTo(ContainSubstring("forbidden"), verb)
				Expect(command.ProcessState.ExitCode()).To(BeElementOf(0, 1), verb+"\n"+string(out))
			}
		}
		placement := file(`{apiVersion: cluster.open-cluster-management.io/v1beta1, kind: Placement,
			metadata: {name: tried, namespace: places}, spec: {}}`)
		app := file(`{apiVersion: addon.open-cluster-management.io/v1alpha1, kind: ClusterManagementAddOn, metadata: {name: app}, spec: {
			installStrategy: {type: Placements, placements: [{name: any, namespace: places}]}, dependencies: [{name: certs, message: m}]}}`)
		runVerbs("why", "why needy -n d", "tree needy", "graph", "status -A", "status -n c", "status -l zone=east", "status --summary -A",
			"report", "describe needy", "suggest", "snapshot -", "events needy -n d", "wait needy -n d --timeout 3s",
			"impact --remove certs", "impact --install app --placement "+placement, "lint --live "+app, "doctor",
			"index build --live --to "+GinkgoT().TempDir())
		for _, name := range []string{"policy", "binding"} { // until then, the gate rule is a webhook
			content, err := manifests.Gate.ReadFile("gate/" + name + ".yaml")
			Expect(err).NotTo(HaveOccurred())
			deploy(ctx, "", string(content))
		}
		runVerbs("doctor")
		for _, verb := range []string{"events needy -n d -w", "status -A -w"} {
			session, err := gexec.Start(exec.Command(plugin, append(strings.Fields(verb), reader...)...), GinkgoWriter, GinkgoWriter)
			Expect(err).NotTo(HaveOccurred())
			DeferCleanup(session.Kill)
		}
		Eventually(func() []string {
			return slices.Concat(recorder.unused("clusterrole.yaml"), recorder.unused("role.yaml"))
		}, 20*time.Second).Should(BeEmpty(), "rights that no verb needs")
		recorder.mutex.Lock()
		defer recorder.mutex.Unlock()
		Expect(recorder.refusals).To(BeEmpty())
	})
})

// awaitConfig waits until OCM refers to the AddOnDeploymentConfig of an add-on. It then writes the config's hash, as the manager of the
// add-on does.
func awaitConfig(ctx context.Context, namespace, addOn string) {
	GinkgoHelper()
	Eventually(func(g Gomega) {
		object := &addonv1alpha1.ManagedClusterAddOn{}
		g.Expect(hub.Client.Get(ctx, client.ObjectKey{Namespace: namespace, Name: addOn}, object)).To(Succeed())
		g.Expect(object.Status.ConfigReferences).To(HaveLen(1))
		desired := object.Status.ConfigReferences[0].DesiredConfig
		g.Expect(desired).NotTo(BeNil())
		if desired.SpecHash == "" {
			desired.SpecHash = "any"
			g.Expect(hub.Client.Status().Update(ctx, object)).To(Succeed())
		}
		_, refers := fleet.ConfigOf(object)
		g.Expect(refers).To(BeTrue())
	}, 20*time.Second).Should(Succeed())
}

// createInterlockParts creates the objects that make doctor read further: it reads a role once it is bound, and the needs of a guard once
// there is a guard.
func createInterlockParts(ctx context.Context) {
	GinkgoHelper()
	for _, file := range []string{
		"clusterrole", "clusterrolebinding", "role", "rolebinding", "webhook-clusterrole", "webhook-clusterrolebinding", "webhook-role",
		"webhook-rolebinding", "graft-clusterrole", "guard-policy-clusterrole", "guard-policy-clusterrolebinding",
		"guard-webhook-clusterrole", "guard-webhook-clusterrolebinding", "lifecycle-clusterrole", "deployment",
	} {
		deploy(ctx, interlock, readManifest("hub/"+file+".yaml"))
	}
	for _, file := range []string{"clusterrole", "clusterrolebinding", "role", "rolebinding", "deployment"} {
		deploy(ctx, interlock, readManifest("console/"+file+".yaml"))
	}
	deploy(ctx, interlock, readManifest("graft/clusterrolebinding.yaml"))
	deploy(ctx, interlock, readManifest("lifecycle/clusterrolebinding.yaml"))
	for _, rule := range []string{names.Guard, names.Gate} {
		deploy(ctx, "", "{apiVersion: admissionregistration.k8s.io/v1, kind: MutatingWebhookConfiguration, metadata: {name: "+rule+"}}")
	}
	// The gate rule is checked if the lifecycle is on. addon-manager would write the CA.
	deploy(ctx, "", strings.ReplaceAll(readManifest("lifecycle/webhook-configuration.yaml"),
		"clientConfig:", "clientConfig:\n      caBundle: Q0E="))
	annotate := func(ctx context.Context, value string) {
		crd := &unstructured.Unstructured{}
		crd.SetAPIVersion("apiextensions.k8s.io/v1")
		crd.SetKind("CustomResourceDefinition")
		crd.SetName("clustermanagementaddons.addon.open-cluster-management.io")
		patch := `{"metadata": {"annotations": {"` + names.GraftRecord + `": ` + value + `}}}`
		Expect(hub.Client.Patch(ctx, crd, client.RawPatch("application/merge-patch+json", []byte(patch)))).To(Succeed())
	}
	annotate(ctx, `"{}"`)
	DeferCleanup(annotate, "null")
	for _, name := range []string{"policy", "binding"} {
		content, err := manifests.Guard.ReadFile("guard/" + name + ".yaml")
		Expect(err).NotTo(HaveOccurred())
		deploy(ctx, "", string(content))
	}
}
