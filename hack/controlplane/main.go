// Command controlplane builds kube-apiserver and etcd into bin/ from the Go
// module in test/controlplane, and shows how far it is: the first build takes
// minutes. It does nothing when they are up to date, and builds nothing when
// KUBEBUILDER_ASSETS names a folder that has them. With -node it builds what
// else a node consists of, and only that.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

const assetsVariable = "KUBEBUILDER_ASSETS"

// set is what is built together, and the file that remembers from what.
type set struct {
	binaries []string
	stamp    string
}

var (
	controlPlane = set{[]string{"kube-apiserver", "etcd"}, "control-plane.sum"}
	node         = set{[]string{"kubelet", "kube-controller-manager", "kube-scheduler", "kube-proxy"}, "node.sum"}
)

func main() {
	source := flag.String("source", "test/controlplane", "folder of the module to build")
	bin := flag.String("bin", "bin", "folder to put the binaries into")
	onNode := flag.Bool("node", false, "build kubelet, kube-controller-manager, kube-scheduler and kube-proxy instead")
	flag.Parse()
	wanted, assets := controlPlane, os.Getenv(assetsVariable)
	if *onNode {
		wanted, assets = node, ""
	}
	if err := wanted.run(*source, *bin, assets); err != nil {
		fmt.Fprintln(os.Stderr, "control plane:", err)
		os.Exit(1)
	}
}

func (s set) run(source, bin, assets string) error {
	if assets != "" {
		if err := s.present(assets); err != nil {
			return fmt.Errorf("%s is set to %s, but %w; put both there, or unset it to build them", assetsVariable, assets, err)
		}
		fmt.Printf("control plane: using %s=%s\n", assetsVariable, assets)
		return nil
	}
	bin, err := filepath.Abs(bin)
	if err != nil {
		return err
	}
	wanted, err := fingerprint(source)
	if err != nil {
		return err
	}
	stamp := filepath.Join(bin, s.stamp)
	if built, err := os.ReadFile(stamp); err == nil && string(built) == wanted && s.present(bin) == nil {
		fmt.Printf("control plane: %s in %s are up to date\n", strings.Join(s.binaries, " and "), bin)
		return nil
	}
	if err := os.MkdirAll(bin, 0o755); err != nil {
		return err
	}
	if err := s.build(source, bin); err != nil {
		return err
	}
	return os.WriteFile(stamp, []byte(wanted), 0o644)
}

// present tells which of the binaries a folder lacks.
func (s set) present(dir string) error {
	var missing []string
	for _, name := range s.binaries {
		info, err := os.Stat(filepath.Join(dir, name))
		switch {
		case errors.Is(err, os.ErrNotExist):
			missing = append(missing, name)
		case err != nil:
			return err
		case info.IsDir() || info.Mode()&0o111 == 0:
			return fmt.Errorf("%s in it is no executable file", name)
		}
	}
	if len(missing) > 0 {
		return fmt.Errorf("it has no %s", strings.Join(missing, " and no "))
	}
	return nil
}
