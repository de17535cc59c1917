package graft

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"open-cluster-management.io/addon-framework/pkg/addonmanager"
	addonagent "open-cluster-management.io/addon-framework/pkg/agent"
	"open-cluster-management.io/addon-framework/pkg/utils"
	ocmv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/yaml"

	"open-cluster-management.io/interlock/pkg/compat/crdgraft"
	"open-cluster-management.io/interlock/pkg/compat/graft"
	"open-cluster-management.io/interlock/pkg/names"
)

// crdKey returns the CRD with only its name.
func crdKey() *unstructured.Unstructured {
	crd := &unstructured.Unstructured{}
	crd.SetGroupVersionKind(apiextensionsv1.SchemeGroupVersion.WithKind("CustomResourceDefinition"))
	crd.SetName(graft.CRDName)
	return crd
}

// configured is an add-on with a configuration and a manager of its own.
type configured struct{ name string }

func (configured) Manifests(context.Context, *clusterv1.ManagedCluster, *ocmv1beta1.ManagedClusterAddOn) ([]runtime.Object, error) {
	return nil, nil
}

func (c configured) GetAgentAddonOptions() addonagent.AgentAddonOptions {
	return addonagent.AgentAddonOptions{
		AddonName:           c.name,
		SupportedConfigGVRs: []schema.GroupVersionResource{utils.AddOnDeploymentConfigGVR},
	}
}

// startAddOnManager runs the manager of add-ons until the spec ends. The manager is made with addon-framework, which writes the hash of
// the configuration to the registration.
func startAddOnManager(names ...string) {
	GinkgoHelper()
	manager, err := addonmanager.New(hub.Config)
	Expect(err).NotTo(HaveOccurred())
	for _, name := range names {
		Expect(manager.AddAgent(configured{name})).To(Succeed())
	}
	runContext, stop := context.WithCancel(context.Background())
	DeferCleanup(stop)
	Expect(manager.Start(runContext)).To(Succeed())
}

// configurable returns a change that gives an add-on a configuration, in a version of the API.
func configurable(version string) func(*unstructured.Unstructured) {
	config := &unstructured.Unstructured{}
	config.SetAPIVersion(storage)
	config.SetKind("AddOnDeploymentConfig")
	config.SetNamespace(namespace)
	config.SetName("default")
	config.Object["spec"] = map[string]any{}
	resource := map[string]any{"group": "addon.open-cluster-management.io", "resource": "addondeploymentconfigs"}
	name := map[string]any{"namespace": config.GetNamespace(), "name": config.GetName()}
	return func(registration *unstructured.Unstructured) {
		GinkgoHelper()
		Expect(client.IgnoreAlreadyExists(admin.Create(context.Background(), config))).To(Succeed())
		field, entry := "supportedConfigs", resource
		if version == betaVersion {
			field = "defaultConfigs"
			for key, value := range name {
				entry[key] = value
			}
		} else {
			entry["defaultConfig"] = name
		}
		Expect(unstructured.SetNestedSlice(registration.Object, []any{entry}, "spec", field)).To(Succeed())
	}
}

// readBeta returns a registration in v1beta1.
func readBeta(ctx context.Context, name string) *unstructured.Unstructured {
	GinkgoHelper()
	object := registration(betaVersion, name)
	Expect(admin.Get(ctx, client.ObjectKeyFromObject(object), object)).To(Succeed())
	return object
}

// configHash returns the hash that an add-on's manager writes of its configuration. The manager waits until OCM's addon manager has
// written that there is a configuration.
func configHash(ctx context.Context, name string) func() string {
	return func() string {
		references, _, _ := unstructured.NestedSlice(readBeta(ctx, name).Object, "status", "defaultConfigReferences")
		if len(references) == 0 {
			return ""
		}
		hash, _, _ := unstructured.NestedString(references[0].(map[string]any), "desiredConfig", "specHash")
		return hash
	}
}

// insist overwrites every graft of the CRD until the spec ends, whether or not the CRD carries a version. A tool that applies the CRD
// from a repository does that. The returned function counts the writes.
func insist(crd map[string]any) (times func() int) {
	ctx, cancel := context.WithCancel(context.Background())
	exit, count := make(chan struct{}), make(chan int, 1)
	count <- 0
	go func() {
		defer close(exit)
		for ticker := time.NewTicker(20 * time.Millisecond); ctx.Err() == nil; <-ticker.C {
			existing := crdKey()
			if admin.Get(ctx, client.ObjectKeyFromObject(existing), existing) == nil && crdgraft.Grafted(existing.Object) &&
				overwrite(ctx, crd, existing.GetResourceVersion()) == nil {
				count <- <-count + 1
			}
		}
	}()
	DeferCleanup(func() { cancel(); <-exit })
	return func() int { n := <-count; count <- n; return n }
}

func overwrite(ctx context.Context, crd map[string]any, resourceVersion string) error {
	desired := (&unstructured.Unstructured{Object: crd}).DeepCopy()
	desired.SetResourceVersion(resourceVersion)
	return admin.Update(ctx, desired, client.FieldOwner("gitops"))
}

// The CRDs as the api module ships them.
const (
	v1alpha1File = "addon/v1alpha1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
	v1beta1File  = "addon/v1beta1/0000_00_addon.open-cluster-management.io_clustermanagementaddons.crd.yaml"
)

// writeOldCRD is a double of the operator of an OCM that converted no add-ons. It writes its CRD without a conversion and marks it with
// its version, as applyOne of ocm 1.2.1, pkg/operator/operators/crdmanager/manager.go, does. It returns the CRD as stored.
func writeOldCRD(ctx context.Context, version, file string, change ...func(spec map[string]any)) map[string]any {
	GinkgoHelper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "open-cluster-management.io/api").Output()
	Expect(err).NotTo(HaveOccurred())
	raw, err := os.ReadFile(filepath.Join(strings.TrimSpace(string(dir)), filepath.FromSlash(file)))
	Expect(err).NotTo(HaveOccurred())
	crd := &unstructured.Unstructured{}
	Expect(yaml.Unmarshal(raw, &crd.Object)).To(Succeed())
	unstructured.RemoveNestedField(crd.Object, "status")
	for _, version := range crd.Object["spec"].(map[string]any)["versions"].([]any) {
		spec, _, err := unstructured.NestedFieldNoCopy(version.(map[string]any), "schema", "openAPIV3Schema", "properties", "spec", "properties")
		Expect(err).NotTo(HaveOccurred())
		for _, apply := range change {
			apply(spec.(map[string]any))
		}
	}
	unstructured.RemoveNestedField(crd.Object, "spec", "conversion")
	crd.SetAnnotations(map[string]string{names.OCMVersion: version})
	Eventually(func() error {
		return overwrite(ctx, crd.Object, present(ctx).GetResourceVersion())
	}).Should(Succeed())
	return unmanaged(present(ctx))
}

// proposed adds spec.dependencies as in the proposal, without Interlock's additions.
func proposed(spec map[string]any) {
	spec["dependencies"] = map[string]any{"type": "array", "items": map[string]any{
		"type": "object", "required": []any{"name"}, "properties": map[string]any{
			"name":    map[string]any{"type": "string", "minLength": int64(1)},
			"type":    map[string]any{"type": "string", "enum": []any{"Optional", "Required"}, "default": "Required"},
			"message": map[string]any{"type": "string"},
		},
	}}
}
