"""What makes a finding trustworthy: confirmation, ablation, transfer and regression."""
