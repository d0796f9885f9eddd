"""The layout of LeRobot v3 data sets: what the metadata says, checked."""
