package hubinstall

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"time"

	. "github.com/onsi/ginkgo/v2"
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"open-cluster-management.io/interlock/test/process"
	"open-cluster-management.io/interlock/test/setup"
	"open-cluster-management.io/interlock/test/testenv"
)

// node runs the programs of Deployments and Jobs in Interlock's namespace, as kubelets and their controllers would: one process in
// place of all replicas.
type node struct {
	program, logs string
	mutex         sync.Mutex
	// running has the processes of Deployments, and jobs those of Jobs.
	running, jobs map[string]*process.Process
	// broken keeps Deployments from becoming available.
	broken bool
	// fails makes Jobs fail.
	fails bool
}

// startNode starts a node that ends with the suite.
func startNode() *node {
	GinkgoHelper()
	n := &node{
		program: setup.Program("addon-manager"), logs: GinkgoT().TempDir(),
		running: map[string]*process.Process{}, jobs: map[string]*process.Process{},
	}
	ctx, cancel := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer GinkgoRecover()
		defer close(done)
		for ctx.Err() == nil {
			if err := n.sync(ctx); err != nil && ctx.Err() == nil {
				fmt.Fprintf(GinkgoWriter, "node: %v\n", err)
			}
			select {
			case <-ctx.Done():
			case <-time.After(100 * time.Millisecond):
			}
		}
	}()
	DeferCleanup(func() {
		cancel()
		<-done
		for _, processes := range []map[string]*process.Process{n.running, n.jobs} {
			for _, running := range processes {
				_ = running.Kill()
			}
		}
	})
	return n
}

func (n *node) set(change func(*node)) {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	change(n)
}

// sync compares what runs with what should.
func (n *node) sync(ctx context.Context) error {
	n.mutex.Lock()
	defer n.mutex.Unlock()
	var deployments appsv1.DeploymentList
	if err := hub.Client.List(ctx, &deployments, client.InNamespace(namespace)); err != nil {
		return err
	}
	wanted := map[string]bool{}
	for i := range deployments.Items {
		deployment := &deployments.Items[i]
		if deployment.DeletionTimestamp == nil && ptr.Deref(deployment.Spec.Replicas, 1) > 0 {
			wanted[deployment.Name] = true
		}
		if err := n.syncDeployment(ctx, deployment, wanted[deployment.Name]); err != nil {
			return err
		}
	}
	for name, running := range n.running {
		if !wanted[name] {
			stopping, cancel := context.WithTimeout(ctx, 20*time.Second)
			_ = running.Stop(stopping)
			cancel()
			delete(n.running, name)
		}
	}
	return n.syncJobs(ctx)
}

func (n *node) syncDeployment(ctx context.Context, deployment *appsv1.Deployment, wanted bool) error {
	if wanted && n.running[deployment.Name] == nil && !n.broken {
		if err := n.start(deployment.Name, &deployment.Spec.Template.Spec); err != nil {
			return err
		}
		if deployment.Name == "interlock-webhook" {
			if err := n.publish(ctx, deployment); err != nil {
				return err
			}
		}
	}
	replicas := ptr.Deref(deployment.Spec.Replicas, 1)
	status := appsv1.DeploymentStatus{ObservedGeneration: deployment.Generation, Replicas: replicas, UpdatedReplicas: replicas}
	if !n.broken {
		status.AvailableReplicas, status.ReadyReplicas = replicas, replicas
	}
	deployment.Status = status
	return client.IgnoreNotFound(hub.Client.Status().Update(ctx, deployment))
}

// start runs the program of a pod, as its service account. Flags about ports of the pod are replaced.
func (n *node) start(name string, pod *corev1.PodSpec) error {
	args, err := n.arguments(pod)
	if err != nil {
		return err
	}
	args = append(args, "--metrics-bind-address=0", "--health-probe-bind-address=0")
	if args[0] == "webhook" {
		args = append(args, "--namespace="+namespace, "--webhook-bind-address="+testenv.FreeAddress().String())
	} else {
		args = append(args, "--leader-elect-namespace="+namespace)
	}
	n.running[name], err = process.Start(n.program, filepath.Join(n.logs, name+".log"), args...)
	return err
}

// arguments returns the arguments of a pod's container, and the credentials of its service account.
func (n *node) arguments(pod *corev1.PodSpec) ([]string, error) {
	account := "system:serviceaccount:" + namespace + ":" + pod.ServiceAccountName
	user, err := hub.AddUser(account, "system:serviceaccounts", "system:serviceaccounts:"+namespace)
	if err != nil {
		return nil, err
	}
	return append(append([]string{}, pod.Containers[0].Args...), "--kubeconfig="+user.Kubeconfig), nil
}

// publish creates the EndpointSlice of the webhook's Service. The API server calls the Service by its own address, where nothing
// listens here.
func (n *node) publish(ctx context.Context, deployment *appsv1.Deployment) error {
	return client.IgnoreAlreadyExists(hub.Client.Create(ctx, &discoveryv1.EndpointSlice{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: namespace, Name: "interlock-webhook-1", Labels: map[string]string{discoveryv1.LabelServiceName: "interlock-webhook"},
			OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(deployment, appsv1.SchemeGroupVersion.WithKind("Deployment"))},
		},
		AddressType: discoveryv1.AddressTypeIPv4,
		Endpoints: []discoveryv1.Endpoint{{
			Addresses: []string{"192.0.2.1"}, Conditions: discoveryv1.EndpointConditions{Ready: ptr.To(true)},
		}},
	}))
}

// syncJobs runs each Job, and reports its end.
func (n *node) syncJobs(ctx context.Context) error {
	var jobs batchv1.JobList
	if err := hub.Client.List(ctx, &jobs, client.InNamespace(namespace)); err != nil {
		return err
	}
	for i := range jobs.Items {
		job := &jobs.Items[i]
		if len(job.Status.Conditions) > 0 {
			continue
		}
		condition, err := n.run(job)
		if condition != "" && err == nil {
			err = endJob(ctx, job, condition)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// run starts the program of a Job, once. It returns the condition of the Job if the program has ended.
func (n *node) run(job *batchv1.Job) (batchv1.JobConditionType, error) {
	if n.fails {
		return batchv1.JobFailed, nil
	}
	name := string(job.UID)
	if n.jobs[name] == nil {
		args, err := n.arguments(&job.Spec.Template.Spec)
		if err != nil {
			return "", err
		}
		n.jobs[name], err = process.Start(n.program, filepath.Join(n.logs, name+".log"), append(args, "--namespace="+namespace)...)
		return "", err
	}
	select {
	case <-n.jobs[name].Done():
		condition := batchv1.JobComplete
		if n.jobs[name].Err() != nil {
			condition = batchv1.JobFailed
		}
		return condition, nil
	default:
		return "", nil
	}
}

func endJob(ctx context.Context, job *batchv1.Job, condition batchv1.JobConditionType) error {
	now := metav1.Now()
	job.Status.StartTime = &now
	conditions := []batchv1.JobConditionType{batchv1.JobFailureTarget, condition}
	if condition == batchv1.JobComplete {
		conditions[0], job.Status.CompletionTime = batchv1.JobSuccessCriteriaMet, &now
	}
	for _, conditionType := range conditions {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{
			Type: conditionType, Status: corev1.ConditionTrue, Reason: "Tested", Message: "the test ended it", LastTransitionTime: now,
		})
	}
	return hub.Client.Status().Update(ctx, job)
}
