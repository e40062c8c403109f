"""Robots and machines of other programs: a tree of links from URDF or MJCF, and the bodies and joints of a study that it means."""
