package ocm

import (
	"context"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/util/cert"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"open-cluster-management.io/interlock/pkg/names"
	"open-cluster-management.io/interlock/test/testenv"
	"open-cluster-management.io/interlock/test/witness"
)

const versionAnnotation = names.OCMVersion

// apiServerFlags returns the flags of the API server, which writes an audit log that a witness can read.
func (h *Hub) apiServerFlags(options HubOptions) (map[string][]string, error) {
	flags, log, err := witness.AuditFlags(h.files.dir)
	if err != nil {
		return nil, err
	}
	h.AuditLog = log
	if options.MutatingAdmissionPolicy {
		flags["feature-gates"] = []string{"MutatingAdmissionPolicy=true"}
		flags["runtime-config"] = []string{"admissionregistration.k8s.io/v1beta1=true"}
	}
	if options.Operator {
		flags["service-cluster-ip-range"] = []string{serviceRange()}
	}
	maps.Copy(flags, options.Flags)
	return flags, nil
}

// install creates the objects that OCM's operator creates on a hub. It also starts the webhooks, without which OCM's
// objects cannot be read.
func (h *Hub) install(ctx context.Context, options HubOptions) error {
	if options.Operator {
		return h.installByOperator(ctx)
	}
	address := testenv.FreeAddress().String()
	ca, err := h.webhookCertificate()
	if err != nil {
		return err
	}
	objects, err := h.hubManifests(address, ca)
	if err != nil {
		return err
	}
	rights := ofKinds(objects, false, "CustomResourceDefinition", "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration")
	if err := h.createAll(ctx, append(namespaces(operatorNamespace, hubNamespace), rights...)); err != nil {
		return err
	}
	var starting errgroup.Group
	starting.Go(func() error { return h.startWebhooks(ctx, address) })
	starting.Go(func() error {
		var err error
		h.ControllerManager, err = startControllerManager(ctx, h.Cluster, h.assets, h.files)
		return err
	})
	starting.Go(func() error { return h.installCRDs(objects, options.InterlockCRDs) })
	if err := starting.Wait(); err != nil {
		return err
	}
	_, combined := h.assets.combinedWebhooks()
	if !combined {
		return nil
	}
	return h.createAll(ctx, ofKinds(objects, true, "ValidatingWebhookConfiguration", "MutatingWebhookConfiguration"))
}

func (h *Hub) hubManifests(address string, ca []byte) ([]*unstructured.Unstructured, error) {
	objects, err := render(h.assets.program("manifests"), values(ca), hubPatterns()...)
	if err != nil {
		return nil, err
	}
	bootstrap, err := renderChart(h.assets.program("chart"), bootstrapTemplates...)
	if err != nil {
		return nil, err
	}
	version, err := ocmVersion(h.assets)
	if err != nil {
		return nil, err
	}
	byURL(objects, address)
	annotate(ofKinds(objects, true, "CustomResourceDefinition"), version)
	return append(objects, bootstrap...), nil
}

// hubPatterns returns the manifests of the components that run. Manifests of optional features, such as cluster
// profiles and gRPC, are left out.
func hubPatterns() []string {
	const hub = "cluster-manager/hub/"
	var patterns []string
	for _, file := range []string{"serviceaccount.yaml", "clusterrole.yaml", "clusterrolebinding.yaml"} {
		for _, component := range []string{"registration", "addon-manager", "placement", "work"} {
			patterns = append(patterns, hub+component+"/"+file)
		}
		patterns = append(patterns, hub+"registration/webhook-"+file)
	}
	return append(patterns, hub+"work/executor-admin-clusterrole.yaml",
		hub+"addon-manager/work-executor-admin-clusterrolebinding.yaml",
		hub+"registration/webhook-*configuration.yaml", hub+"crds/*.yaml")
}

func (h *Hub) installCRDs(objects []*unstructured.Unstructured, interlock bool) error {
	objects = ofKinds(objects, true, "CustomResourceDefinition")
	if interlock {
		var err error
		if objects, err = addInterlock(objects); err != nil {
			return err
		}
	}
	crds := make([]*apiextensionsv1.CustomResourceDefinition, len(objects))
	for i, object := range objects {
		crds[i] = &apiextensionsv1.CustomResourceDefinition{}
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(object.Object, crds[i]); err != nil {
			return fmt.Errorf("%s: %w", object.GetName(), err)
		}
	}
	_, err := envtest.InstallCRDs(h.Config, envtest.CRDInstallOptions{CRDs: crds, MaxTime: patience})
	return err
}

// webhookCertificate writes the certificate that the webhooks serve with, and
// returns the CA that signed it.
func (h *Hub) webhookCertificate() ([]byte, error) {
	chain, key, err := cert.GenerateSelfSignedCertKey(loopback, []net.IP{net.ParseIP(loopback)}, nil)
	if err != nil {
		return nil, err
	}
	dir := filepath.Join(h.files.dir, "webhooks")
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	if err := os.WriteFile(filepath.Join(dir, "tls.crt"), chain, 0o600); err != nil {
		return nil, err
	}
	return chain, os.WriteFile(filepath.Join(dir, "tls.key"), key, 0o600)
}

func (h *Hub) startWebhooks(ctx context.Context, address string) error {
	kubeconfig, err := serviceAccountKubeconfig(ctx, h.Cluster, h.files.dir, hubNamespace, "registration-webhook-sa")
	if err != nil {
		return err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return err
	}
	args := []string{"--kubeconfig", kubeconfig, "--port", port, "--certdir", filepath.Join(h.files.dir, "webhooks")}
	path, combined := h.assets.combinedWebhooks()
	if combined {
		args = append([]string{"webhooks", "--host", host}, args...)
	} else {
		path, args = h.assets.program("addon"), append([]string{"webhook-server"}, args...)
	}
	h.Webhooks = &Component{
		name: "webhooks", path: path, dir: h.files.dir, log: h.files.log("webhooks"), address: address,
		args: func(string) []string { return args },
	}
	return h.Webhooks.Start(ctx)
}

func (h *Hub) createAll(ctx context.Context, objects []*unstructured.Unstructured) error {
	return createAll(ctx, h.Client, objects)
}

func createAll(ctx context.Context, c client.Client, objects []*unstructured.Unstructured) error {
	for _, object := range objects {
		if err := c.Create(ctx, object); err != nil {
			return fmt.Errorf("create %s %s: %w", object.GetKind(), object.GetName(), err)
		}
	}
	return nil
}

func namespaces(names ...string) []*unstructured.Unstructured {
	var objects []*unstructured.Unstructured
	for _, name := range names {
		object := &unstructured.Unstructured{}
		object.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Namespace"))
		object.SetName(name)
		objects = append(objects, object)
	}
	return objects
}

// Version returns the version of OCM that runs on the hub, without the v.
func (h *Hub) Version() (string, error) { return ocmVersion(h.assets) }

// ocmVersion returns the version that the programs report, without the v.
func ocmVersion(programs assets) (string, error) {
	out, err := exec.Command(programs.program("registration"), "--version").Output()
	fields := strings.Fields(string(out))
	if err != nil {
		return "", fmt.Errorf("run %s --version: %w; build OCM with its version, as docs/dev/testing.md describes",
			programs.program("registration"), err)
	}
	if len(fields) == 0 {
		return "", fmt.Errorf("%s --version reports no version: build OCM with its version, as docs/dev/testing.md describes",
			programs.program("registration"))
	}
	return strings.TrimPrefix(fields[len(fields)-1], "v"), nil
}
