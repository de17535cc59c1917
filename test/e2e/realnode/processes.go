//go:build linux

package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"time"
)

// process is a program of a node.
type process struct {
	name string
	path string
	args []string
}

func processes(s spec) []process {
	config := func(name string) string { return "--kubeconfig=" + s.file(name+".kubeconfig") }
	return []process{
		{"etcd", s.binary("etcd"), []string{
			"--data-dir=/var/lib/etcd", "--unsafe-no-fsync",
			"--listen-client-urls=http://127.0.0.1:2379", "--advertise-client-urls=http://127.0.0.1:2379",
			"--listen-peer-urls=http://127.0.0.1:2380",
		}},
		{"kube-apiserver", s.binary("kube-apiserver"), apiServerArgs(s)},
		{"kube-controller-manager", s.binary("kube-controller-manager"), []string{
			config("controller-manager"), "--leader-elect=false", "--use-service-account-credentials",
			"--root-ca-file=" + s.file("ca.crt"),
			"--cluster-signing-cert-file=" + s.file("ca.crt"), "--cluster-signing-key-file=" + s.file("ca.key"),
			"--service-account-private-key-file=" + s.file("service-accounts.key"),
		}},
		{"kube-scheduler", s.binary("kube-scheduler"), []string{config("scheduler"), "--leader-elect=false"}},
		{"containerd", "containerd", []string{"--config", s.file("containerd.toml")}},
		{"kubelet", s.binary("kubelet"), []string{
			config("kubelet"), "--config=" + s.file("kubelet.yaml"),
			"--node-ip=" + s.Address(), "--hostname-override=" + s.Name,
		}},
		{"kube-proxy", s.binary("kube-proxy"), []string{
			config("proxy"), "--cluster-cidr=" + s.Pods(), "--hostname-override=" + s.Name,
			"--conntrack-max-per-core=0", "--proxy-mode=iptables", "--nodeport-addresses=primary",
		}},
	}
}

func apiServerArgs(s spec) []string {
	return []string{
		"--etcd-servers=http://127.0.0.1:2379",
		"--secure-port=6443", "--advertise-address=" + s.Address(),
		"--tls-cert-file=" + s.file("apiserver.crt"), "--tls-private-key-file=" + s.file("apiserver.key"),
		"--client-ca-file=" + s.file("ca.crt"), "--authorization-mode=Node,RBAC",
		"--service-cluster-ip-range=" + s.Services(),
		"--service-account-issuer=https://kubernetes.default.svc",
		"--service-account-key-file=" + s.file("service-accounts.key"),
		"--service-account-signing-key-file=" + s.file("service-accounts.key"),
		// The API server is no pod and has no kube-proxy. So it calls webhooks at the pods' addresses.
		"--enable-aggregator-routing=true",
		"--kubelet-preferred-address-types=InternalIP",
		"--kubelet-client-certificate=" + s.file("admin.crt"), "--kubelet-client-key=" + s.file("admin.key"),
		"--shutdown-watch-termination-grace-period=1s",
	}
}

// start runs the process with its output in the state folder. It does not wait for the process: reap waits for all.
func (p process) start(s spec) (int, error) {
	if p.name == "kubelet" {
		if err := awaitSocket(containerdSocket); err != nil {
			return 0, err
		}
	}
	path, err := exec.LookPath(p.path)
	if err != nil {
		return 0, err
	}
	log, err := os.Create(s.file(p.name + ".log"))
	if err != nil {
		return 0, err
	}
	defer log.Close() // the process has it open
	running, err := os.StartProcess(path, append([]string{path}, p.args...),
		&os.ProcAttr{Env: os.Environ(), Files: []*os.File{nil, log, log}})
	if err != nil {
		return 0, fmt.Errorf("start %s: %w", p.name, err)
	}
	return running.Pid, nil
}

func awaitSocket(path string) error {
	return await("containerd's socket", func() error {
		conn, err := net.Dial("unix", path)
		if err == nil {
			err = conn.Close()
		}
		return err
	})
}

func awaitUplink() error {
	return await("the veth pair", func() error {
		_, err := net.InterfaceByName(uplink)
		return err
	})
}

// await waits until look succeeds, because the other side makes the object.
func await(name string, look func() error) error {
	deadline := time.Now().Add(time.Minute)
	for {
		err := look()
		if err == nil {
			return nil
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("wait for %s: %w", name, err)
		}
		time.Sleep(50 * time.Millisecond)
	}
}
