package main

import "path/filepath"

// set is a group of programs that one go command builds.
type set struct {
	name string
	// source is the folder of the Go module. packages are the packages to build in it.
	source   string
	packages []string
	// links are symbolic links to the first package's binary, which contains several programs.
	// In the folder that assets names, they may be separate programs.
	links []string
	// folder is the folder for the result, below the folder for all binaries.
	folder string
	// assets is an environment variable. If it names a folder, that folder is used instead of a build.
	assets string
	// version is empty for programs that find out their version themselves.
	version stamp
	// postBuild are the arguments of a go command that runs in the module after the build. The folder of the result is its
	// last argument.
	postBuild []string
	// postBuildFolders are the folders that this command creates there.
	postBuildFolders []string
}

// stamp has the module with the version to link, and the variables to link it into.
type stamp struct {
	module, variables     string
	version, major, minor string
}

var (
	// Without it, an API server reports v0.0.0, and clients that check the version refuse it.
	kubernetes = stamp{"k8s.io/kubernetes", "k8s.io/component-base/version", "gitVersion", "gitMajor", "gitMinor"}
	// OCM's operator writes its version to the CRDs, and only replaces CRDs with a lower version.
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
		packages:         []string{"./ocm"},
		links:            []string{"registration", "addon", "placement", "work", "registration-operator"},
		postBuild:        []string{"run", "./manifests"},
		postBuildFolders: []string{"manifests", "chart"},
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

// binaries returns the names of the set's programs.
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
