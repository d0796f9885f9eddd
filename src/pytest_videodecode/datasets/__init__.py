"""Synthetic LeRobot v3 data sets: every picture says which episode, camera and frame it is."""
