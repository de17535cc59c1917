package ocmstandin

import (
	"context"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"slices"
	"strings"

	certificatesv1 "k8s.io/api/certificates/v1"
	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"
	addonv1beta1 "open-cluster-management.io/api/addon/v1beta1"
	clusterv1 "open-cluster-management.io/api/cluster/v1"
	workv1 "open-cluster-management.io/api/work/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"
)

const (
	workFinalizer = "cluster.open-cluster-management.io/manifest-work-cleanup"
	fieldManager  = "work-agent"
)

// Klusterlet stands in for the two agents that OCM runs for a managed cluster:
// the registration agent, as far as it gets add-ons their credentials for the
// hub (a CertificateSigningRequest, and a Secret with a kubeconfig, anew where
// the Secret has gone), and the work agent, which applies ManifestWorks and
// removes what they contained.
//
// What a work contained stays as long as another work owns it too. OCM writes
// down who owns what in owner references to AppliedManifestWorks; here it is
// remembered, and forgotten with the process. As there, a work does not own what
// it is to orphan: that does not keep it from being removed with another work.
//
// Left out: renewal of certificates before they end, the driver that uses
// tokens, leases and health, feedback rules, update strategies other than
// server-side apply.
type Klusterlet struct {
	// Cluster is the managed cluster's name on the hub.
	Cluster string
	// Hub is the hub as seen by the registration agent: its user name has to
	// begin with system:open-cluster-management:<cluster>:, as OCM's has.
	Hub *rest.Config
	// Managed is the managed cluster.
	Managed *rest.Config
	// Hosting is where credentials of hosted add-ons go; nil for nowhere.
	Hosting *rest.Config
	// Report is told of what failed and will be tried again.
	Report func(error)

	hub, managed, hosting client.Client
	pending               map[types.UID]pendingRequest            // by add-on
	applied               map[string][]*unstructured.Unstructured // what a work owns, by its name
}

// pendingRequest is a request for a certificate, and the key that it is for.
type pendingRequest struct {
	name string
	key  *rsa.PrivateKey
}

// Run does the agents' work until the context ends.
func (k *Klusterlet) Run(ctx context.Context) error {
	scheme, err := hubScheme()
	if err != nil {
		return err
	}
	k.pending, k.applied = map[types.UID]pendingRequest{}, map[string][]*unstructured.Unstructured{}
	for _, cluster := range []struct {
		config *rest.Config
		client *client.Client
	}{{k.Hub, &k.hub}, {k.Managed, &k.managed}, {k.Hosting, &k.hosting}} {
		if cluster.config == nil {
			continue
		}
		if *cluster.client, err = client.New(unthrottled(cluster.config), client.Options{Scheme: scheme}); err != nil {
			return fmt.Errorf("klusterlet of %s: %w", k.Cluster, err)
		}
	}
	repeat(ctx, k.report, func(ctx context.Context) error { return errors.Join(k.register(ctx), k.work(ctx)) })
	return nil
}

func (k *Klusterlet) report(err error) {
	if k.Report != nil {
		k.Report(fmt.Errorf("klusterlet of %s: %w", k.Cluster, err))
	}
}

func hubScheme() (*runtime.Scheme, error) {
	scheme := runtime.NewScheme()
	return scheme, errors.Join(clientgoscheme.AddToScheme(scheme), addonv1beta1.Install(scheme), clusterv1.Install(scheme), workv1.Install(scheme))
}

func unthrottled(given *rest.Config) *rest.Config {
	own := rest.CopyConfig(given)
	own.QPS = -1
	return own
}

// register gets every add-on that asks for it a kubeconfig of the hub.
func (k *Klusterlet) register(ctx context.Context) error {
	var addOns addonv1beta1.ManagedClusterAddOnList
	if err := k.hub.List(ctx, &addOns, client.InNamespace(k.Cluster)); err != nil {
		return fmt.Errorf("list add-ons: %w", err)
	}
	var failures []error
	for i := range addOns.Items {
		for _, registration := range addOns.Items[i].Status.Registrations {
			if registration.Type == addonv1beta1.KubeClient && registration.KubeClient != nil && addOns.Items[i].DeletionTimestamp.IsZero() {
				failures = append(failures, k.credentials(ctx, &addOns.Items[i], registration.KubeClient))
			}
		}
	}
	return errors.Join(failures...)
}

func (k *Klusterlet) credentials(ctx context.Context, addOn *addonv1beta1.ManagedClusterAddOn, wanted *addonv1beta1.KubeClientConfig) error {
	on := k.managed
	if _, hosted := addOn.Annotations[addonv1beta1.HostingClusterNameAnnotationKey]; hosted {
		on = k.hosting
	}
	if on == nil || addOn.Status.Namespace == "" {
		return nil
	}
	secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: addOn.Status.Namespace, Name: addOn.Name + "-hub-kubeconfig"}}
	err := on.Get(ctx, client.ObjectKeyFromObject(secret), secret)
	if err == nil || !apierrors.IsNotFound(err) {
		return err
	}
	if err := on.Get(ctx, client.ObjectKey{Name: secret.Namespace}, &corev1.Namespace{}); err != nil {
		return client.IgnoreNotFound(err) // the work makes it
	}
	asked, pending := k.pending[addOn.UID]
	if !pending {
		return k.request(ctx, addOn, wanted)
	}
	found := &certificatesv1.CertificateSigningRequest{}
	if err := k.hub.Get(ctx, client.ObjectKey{Name: asked.name}, found); err != nil || len(found.Status.Certificate) == 0 {
		return err
	}
	secret.Data, err = k.kubeconfig(found.Status.Certificate, asked.key)
	if err != nil {
		return err
	}
	if err := on.Create(ctx, secret); err != nil {
		return err
	}
	delete(k.pending, addOn.UID) // whoever loses the Secret needs a new certificate
	return nil
}

// request asks the hub for a certificate, as the registration agent does.
func (k *Klusterlet) request(ctx context.Context, addOn *addonv1beta1.ManagedClusterAddOn, wanted *addonv1beta1.KubeClientConfig) error {
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		return err
	}
	request, err := SigningRequest("", k.Cluster, addOn.Name, wanted.Subject.User, wanted.Subject.Groups, key)
	if err != nil {
		return err
	}
	request.GenerateName = fmt.Sprintf("addon-%s-%s-", k.Cluster, addOn.Name)
	if err := k.hub.Create(ctx, request); err != nil {
		return fmt.Errorf("request a certificate for %s: %w", addOn.Name, err)
	}
	k.pending[addOn.UID] = pendingRequest{request.Name, key}
	return nil
}

// SigningRequest is what the registration agent of a cluster asks of the hub
// for an add-on.
func SigningRequest(name, cluster, addOn, user string, groups []string, key *rsa.PrivateKey) (*certificatesv1.CertificateSigningRequest, error) {
	der, err := x509.CreateCertificateRequest(rand.Reader, &x509.CertificateRequest{
		Subject: pkix.Name{CommonName: user, Organization: groups},
	}, key)
	if err != nil {
		return nil, err
	}
	return &certificatesv1.CertificateSigningRequest{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{
			clusterv1.ClusterNameLabelKey: cluster, addonv1beta1.AddonLabelKey: addOn,
		}},
		Spec: certificatesv1.CertificateSigningRequestSpec{
			Request:    pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE REQUEST", Bytes: der}),
			SignerName: certificatesv1.KubeAPIServerClientSignerName,
			Usages:     []certificatesv1.KeyUsage{certificatesv1.UsageDigitalSignature, certificatesv1.UsageKeyEncipherment, certificatesv1.UsageClientAuth},
		},
	}, nil
}

// kubeconfig is the content of an add-on's secret: the kubeconfig names the
// files beside it.
func (k *Klusterlet) kubeconfig(certificate []byte, key *rsa.PrivateKey) (map[string][]byte, error) {
	config := clientcmdapi.NewConfig()
	config.Clusters["hub"] = &clientcmdapi.Cluster{Server: k.Hub.Host, CertificateAuthorityData: k.Hub.CAData}
	config.AuthInfos["user"] = &clientcmdapi.AuthInfo{ClientCertificate: "tls.crt", ClientKey: "tls.key"}
	config.Contexts["hub"] = &clientcmdapi.Context{Cluster: "hub", AuthInfo: "user", Namespace: k.Cluster}
	config.CurrentContext = "hub"
	content, err := clientcmd.Write(*config)
	return map[string][]byte{
		"kubeconfig":   content,
		"tls.crt":      certificate,
		"tls.key":      pem.EncodeToMemory(&pem.Block{Type: "RSA PRIVATE KEY", Bytes: x509.MarshalPKCS1PrivateKey(key)}),
		"cluster-name": []byte(k.Cluster),
	}, err
}

// work applies the cluster's ManifestWorks, and removes what they contained
// when they are deleted.
func (k *Klusterlet) work(ctx context.Context) error {
	var works workv1.ManifestWorkList
	if err := k.hub.List(ctx, &works, client.InNamespace(k.Cluster)); err != nil {
		return fmt.Errorf("list works: %w", err)
	}
	var failures []error
	for i := range works.Items {
		if err := k.workOne(ctx, &works.Items[i]); err != nil {
			failures = append(failures, fmt.Errorf("work %s: %w", works.Items[i].Name, err))
		}
	}
	return errors.Join(failures...)
}

func (k *Klusterlet) workOne(ctx context.Context, work *workv1.ManifestWork) error {
	manifests, err := decode(work)
	if err != nil {
		return err
	}
	if !work.DeletionTimestamp.IsZero() {
		if err := k.remove(ctx, work, append(manifests, k.applied[work.Name]...)); err != nil {
			return err
		}
		delete(k.applied, work.Name)
		controllerutil.RemoveFinalizer(work, workFinalizer)
		return client.IgnoreNotFound(k.hub.Update(ctx, work))
	}
	if controllerutil.AddFinalizer(work, workFinalizer) {
		if err := k.hub.Update(ctx, work); err != nil {
			return err
		}
	}
	gone := slices.DeleteFunc(slices.Clone(k.applied[work.Name]), func(before *unstructured.Unstructured) bool {
		return slices.ContainsFunc(manifests, func(now *unstructured.Unstructured) bool { return same(before, now) })
	})
	failure := errors.Join(k.remove(ctx, work, gone), k.apply(ctx, manifests))
	// What is orphaned has never been the work's to remove.
	k.applied[work.Name] = slices.DeleteFunc(slices.Clone(manifests), func(now *unstructured.Unstructured) bool { return orphaned(work, now) })
	return errors.Join(failure, k.tell(ctx, work, failure))
}

func (k *Klusterlet) apply(ctx context.Context, manifests []*unstructured.Unstructured) error {
	var failures []error
	for _, manifest := range manifests {
		err := k.managed.Apply(ctx, client.ApplyConfigurationFromUnstructured(manifest.DeepCopy()), client.FieldOwner(fieldManager), client.ForceOwnership)
		if err != nil {
			failures = append(failures, fmt.Errorf("apply %s %s: %w", manifest.GetKind(), manifest.GetName(), err))
		}
	}
	return errors.Join(failures...)
}

func (k *Klusterlet) remove(ctx context.Context, work *workv1.ManifestWork, manifests []*unstructured.Unstructured) error {
	var failures []error
	for _, manifest := range slices.Backward(manifests) {
		if !orphaned(work, manifest) && !k.ownedByAnother(work, manifest) {
			failures = append(failures, client.IgnoreNotFound(k.managed.Delete(ctx, manifest.DeepCopy())))
		}
	}
	return errors.Join(failures...)
}

// ownedByAnother reports whether another work of the cluster owns the manifest.
func (k *Klusterlet) ownedByAnother(work *workv1.ManifestWork, manifest *unstructured.Unstructured) bool {
	for name, owned := range k.applied {
		if name != work.Name && slices.ContainsFunc(owned, func(other *unstructured.Unstructured) bool { return same(other, manifest) }) {
			return true
		}
	}
	return false
}

// tell sets the work's conditions where they are to change.
func (k *Klusterlet) tell(ctx context.Context, work *workv1.ManifestWork, failure error) error {
	if answer := apierrors.APIStatus(nil); failure != nil && !errors.As(failure, &answer) {
		return nil // OCM's agent is on the managed cluster: when that is cut off, so is the agent
	}
	status, reason, message := metav1.ConditionTrue, "AppliedManifestWorkComplete", "Apply manifest work complete"
	if failure != nil {
		status, reason, message = metav1.ConditionFalse, "AppliedManifestWorkFailed", failure.Error()
	}
	changed := false
	for _, kind := range []string{workv1.WorkApplied, workv1.WorkAvailable} {
		changed = meta.SetStatusCondition(&work.Status.Conditions, metav1.Condition{
			Type: kind, Status: status, Reason: reason, Message: message, ObservedGeneration: work.Generation,
		}) || changed
	}
	if !changed {
		return nil
	}
	return k.hub.Status().Update(ctx, work)
}

func decode(work *workv1.ManifestWork) ([]*unstructured.Unstructured, error) {
	var manifests []*unstructured.Unstructured
	for i, manifest := range work.Spec.Workload.Manifests {
		object := &unstructured.Unstructured{}
		if err := object.UnmarshalJSON(manifest.Raw); err != nil {
			return nil, fmt.Errorf("manifest %d: %w", i, err)
		}
		manifests = append(manifests, object)
	}
	return manifests, nil
}

func same(a, b *unstructured.Unstructured) bool {
	return a.GroupVersionKind() == b.GroupVersionKind() && a.GetNamespace() == b.GetNamespace() && a.GetName() == b.GetName()
}

// orphaned reports whether the manifest stays when its work goes.
func orphaned(work *workv1.ManifestWork, manifest *unstructured.Unstructured) bool {
	option := work.Spec.DeleteOption
	if option == nil || option.SelectivelyOrphan == nil {
		return option != nil && option.PropagationPolicy == workv1.DeletePropagationPolicyTypeOrphan
	}
	return slices.ContainsFunc(option.SelectivelyOrphan.OrphaningRules, func(rule workv1.OrphaningRule) bool {
		return rule.Group == manifest.GroupVersionKind().Group && rule.Name == manifest.GetName() && rule.Namespace == manifest.GetNamespace() &&
			strings.HasPrefix(rule.Resource, strings.ToLower(manifest.GetKind()))
	})
}
