# Turns the patches 0002 and 0003, whose controllers use v1alpha1, into those for OCM's main branch, where they use v1beta1.
s/addonv1alpha1client/addonclient/g
s/addonapiv1alpha1/addonv1beta1/g
s/addon\(informer\|lister\|\)v1alpha1/addon\1v1beta1/g
s/V1alpha1()/V1beta1()/g
s#addon/v1alpha1#addon/v1beta1#g
