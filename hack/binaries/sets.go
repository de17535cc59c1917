package main

import "path/filepath"

// set is what one go command builds, and where the result goes.
type set struct {
	name string
	// source is the folder of the Go module, packages what to build in it.
	source   string
	packages []string
	// links are symbolic links to the first package's binary: it is several programs.
	// In the folder that assets names they may be programs of their own.
	links []string
	// folder, below the one for all binaries, takes the result.
	folder string
	// assets names the environment variable whose folder is used instead.
	assets string
	// version is empty where the programs know theirs.
	version stamp
	// after runs in the module, with the result's folder as last argument.
	after []string
	// makes are folders that after makes there.
	makes []string
}

// stamp says which module's version is linked into which variables.
type stamp struct {
	module, variables     string
	version, major, minor string
}

var (
	// Without it, an API server reports v0.0.0, and clients that look refuse it.
	kubernetes = stamp{"k8s.io/kubernetes", "k8s.io/component-base/version", "gitVersion", "gitMajor", "gitMinor"}
	// OCM's operator writes its version to the CRDs, and only replaces those of a lower one.
	ocm = stamp{
		"open-cluster-management.io/ocm", "open-cluster-management.io/ocm/pkg/version",
		"versionFromGit", "majorFromGit", "minorFromGit",
	}
	clusteradm = stamp{
		"open-cluster-management.io/clusteradm", "open-cluster-management.io/clusteradm/pkg/version",
		"versionFromGit", "majorFromGit", "minorFromGit",
	}
)

var sets = []set{
	{
		name: "control-plane", source: "test/controlplane", version: kubernetes, assets: "KUBEBUILDER_ASSETS",
		packages: []string{"./kube-apiserver", "./etcd"},
	},
	{
		name: "controller-manager", source: "test/controlplane", version: kubernetes,
		packages: []string{"./kube-controller-manager"},
	},
	{
		name: "node", source: "test/controlplane", version: kubernetes,
		packages: []string{"./kubelet", "./kube-scheduler", "./kube-proxy"},
	},
	{
		name: "kubeadm", source: "test/controlplane", version: kubernetes,
		packages: []string{"k8s.io/kubernetes/cmd/kubeadm"},
	},
	{
		name: "kubectl", source: "test/controlplane", version: kubernetes,
		packages: []string{"k8s.io/kubernetes/cmd/kubectl"},
	},
	{
		name: "helm", source: "hack/deployment", packages: []string{"helm.sh/helm/v4/cmd/helm"},
	},
	{
		name: "crane", source: "hack/release", packages: []string{"github.com/google/go-containerregistry/cmd/crane"},
	},
	{
		name: "kind", source: "test/kind", packages: []string{"sigs.k8s.io/kind"},
	},
	{
		name: "kind-node", source: "test/kind", folder: "kind-node",
		packages: []string{
			"./coredns",
			"github.com/containerd/containerd/v2/cmd/containerd",
			"github.com/containerd/containerd/v2/cmd/containerd-shim-runc-v2",
			"github.com/containerd/containerd/v2/cmd/ctr",
			"github.com/containernetworking/plugins/plugins/ipam/host-local",
			"github.com/containernetworking/plugins/plugins/main/loopback",
			"github.com/containernetworking/plugins/plugins/main/ptp",
			"github.com/containernetworking/plugins/plugins/meta/portmap",
		},
	},
	{
		name: "ocm", source: "test/ocm", version: ocm, assets: "OCM_ASSETS", folder: "ocm",
		packages: []string{"./ocm"},
		links:    []string{"registration", "addon", "placement", "work", "registration-operator"},
		after:    []string{"run", "./manifests"}, makes: []string{"manifests", "chart"},
	},
	{
		name: "addons", source: "test/e2e/addons", folder: "addons",
		packages: []string{
			"open-cluster-management.io/cluster-proxy/cmd/addon-manager",
			"open-cluster-management.io/managed-serviceaccount/cmd",
		},
	},
	{
		name: "clusteradm", source: "test/clusteradm", version: clusteradm,
		packages: []string{"open-cluster-management.io/clusteradm/cmd/clusteradm"},
	},
}

// binaries are the programs that the set consists of.
func (s set) binaries() []string {
	if len(s.links) > 0 {
		return s.links
	}
	names := make([]string, 0, len(s.packages))
	for _, path := range s.packages {
		names = append(names, filepath.Base(path))
	}
	return names
}

func (s set) stampFile() string { return s.name + ".sum" }
