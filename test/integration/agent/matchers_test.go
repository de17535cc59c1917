package agent

import (
	. "github.com/onsi/gomega"
	"github.com/onsi/gomega/gstruct"
	gomegatypes "github.com/onsi/gomega/types"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The reasons of Available, as literals because they are a contract with OCM and with the dependency proposal.
const (
	leaseUpdated   = "ManagedClusterAddOnLeaseUpdated"
	leaseStopped   = "ManagedClusterAddOnLeaseUpdateStopped"
	leaseNotFound  = "ManagedClusterAddOnLeaseNotFound"
	required       = "RequiredDependencyNotSatisfied"
	awaiting       = "AwaitingHealthCheck"
	missingGateway = "Required addon 'gateway' is not installed or not available. (not installed)"
)

func haveStatus(status metav1.ConditionStatus, reason string) gomegatypes.GomegaMatcher {
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{"Status": Equal(status), "Reason": Equal(reason)})
}

func beWithMessage(status metav1.ConditionStatus, reason, message string) gomegatypes.GomegaMatcher {
	return gstruct.MatchFields(gstruct.IgnoreExtras, gstruct.Fields{
		"Status": Equal(status), "Reason": Equal(reason), "Message": Equal(message),
	})
}
