#!/usr/bin/python3
"""`rattleback import`: models in URDF and MJCF as studies of bodies and joints.  import_test.py PROGRAM"""
import math, pathlib, subprocess, sys, tempfile, tomllib, unittest

PROGRAM = ""
URDF = """<?xml version="1.0"?>
<robot name="two arm">
  <link name="base"/>
  <link name="upper"><inertial><origin xyz="0.5 0 0" rpy="0 0 0.3"/><mass value="2"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.2" iyz="0" izz="0.2"/></inertial>
    <visual><geometry><box size="1 0.1 0.1"/></geometry></visual></link>
  <link name="lower"><inertial><origin xyz="0.4 0 0"/><mass value="1"/><inertia ixx="0.01" ixy="0.001" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="tip"><inertial><origin xyz="0 0 0.1"/><mass value="0.5"/><inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><origin xyz="0 0 1" rpy="0 0.2 0"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="1" velocity="1"/><dynamics damping="0.2"/></joint>
  <joint name="elbow" type="continuous"><parent link="upper"/><child link="lower"/><origin xyz="1 0 0" rpy="0.4 0 0.1"/><axis xyz="0 0 1"/></joint>
  <joint name="flange" type="fixed"><parent link="lower"/><child link="tip"/><origin xyz="0.8 0 0"/></joint>
  <transmission name="x"/>
</robot>
"""
CHAIN = '<body><freejoint/><inertial mass="1" diaginertia="1 1 1"/>'
NESTED = '<body><inertial mass="1" diaginertia="1 1 1"/>'
MJCF = """<mujoco model="pend">
  <default><geom density="500"/></default>
  <worldbody>
    <geom type="plane" size="1 1 1"/>
    <body name="a" pos="0 0 2" euler="0 30 0">
      <joint name="h" type="hinge" axis="0 1 0" damping="0.1" range="-90 90"/>
      <geom type="capsule" size="0.05" fromto="0 0 0 0.6 0 0"/>
      <body name="b" pos="0.6 0 0"><joint type="ball"/><geom type="sphere" size="0.1" pos="0 0 -0.3" mass="1.5"/></body>
    </body>
  </worldbody>
  <actuator><motor joint="h"/></actuator>
</mujoco>
"""


class Import(unittest.TestCase):
    def run_import(self, name, text, *options):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder)/name).write_text(text)
            done = subprocess.run([PROGRAM, "import", name, *options], cwd=folder, capture_output=True, text=True)
            written = pathlib.Path(folder)/(pathlib.Path(name).stem + ".toml")
            study = tomllib.loads(written.read_text()) if written.exists() else None
            if study is not None:  # the program takes it
                shown = subprocess.run([PROGRAM, "describe", written.name, "--header"], cwd=folder, capture_output=True, text=True)
                self.assertEqual(shown.returncode, 0, shown.stderr)
        return done, study

    def test_urdf(self):
        done, study = self.run_import("arm.urdf", URDF)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: <limit>", done.stdout)
        self.assertIn("left out: <transmission> of x", done.stdout)
        upper, lower = study["body"]
        self.assertEqual([upper["name"], lower["name"]], ["upper", "lower"])
        self.assertEqual(upper["position"], [0, 0, 1])
        # the tip is part of the lower arm: 1 at 0.4 and 0.5 at 0.8, 0.1
        self.assertEqual(lower["mass"], 1.5)
        for got, wanted in zip(lower["center"], [(0.4 + 0.5*0.8)/1.5, 0, 0.05/1.5]):
            self.assertAlmostEqual(got, wanted, 14)
        shared = 1*0.5/1.5  # the reduced mass
        self.assertAlmostEqual(lower["inertia"][1][1], 0.11 + shared*(0.4**2 + 0.1**2), 14)
        self.assertAlmostEqual(lower["inertia"][0][2], -shared*0.4*0.1, 14)
        self.assertAlmostEqual(upper["inertia"][0][0], 0.01*math.cos(0.3)**2 + 0.2*math.sin(0.3)**2, 14)
        shoulder, elbow = study["joint"]
        self.assertEqual((shoulder["type"], shoulder["between"], shoulder["damping"]), ("revolute", ["ground", "upper"], 0.2))
        # the elbow turns about the third axis of Ry(0.2) Rz(0.1) Rx(0.4)
        a, b, c = 0.2, 0.1, 0.4
        third = [math.sin(b)*math.sin(c), -math.cos(b)*math.sin(c), math.cos(c)]
        wanted = [math.cos(a)*third[0] + math.sin(a)*third[2], third[1], -math.sin(a)*third[0] + math.cos(a)*third[2]]
        for got, one in zip(elbow["axis"], wanted):
            self.assertAlmostEqual(got, one, 14)
        for got, one in zip(elbow["at"], [math.cos(a), 0, 1 - math.sin(a)]):
            self.assertAlmostEqual(got, one, 14)

    def test_mjcf(self):
        done, study = self.run_import("pend.xml", MJCF, "--quiet")
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)
        a, b = study["body"]
        r, h = 0.05, 0.3
        self.assertAlmostEqual(a["mass"], 500*(math.pi*r*r*2*h + 4/3*math.pi*r**3), 12)
        self.assertAlmostEqual(a["inertia"][0], 500*math.pi*(r*r*2*h*r*r/2 + 4/3*r**3*0.4*r*r), 14)
        self.assertEqual(b["center"], [0, 0, -0.3])
        self.assertEqual([joint["type"] for joint in study["joint"]], ["revolute", "spherical"])
        self.assertAlmostEqual(b["position"][2], 2 - 0.6*math.sin(math.pi/6), 14)

    def test_mjcf_classes_loops_and_several_joints(self):
        text = MJCF.replace("</default>", '<default class="heavy"><geom density="2000"/><default class="stiff"><joint stiffness="3"/></default></default></default>', 1)
        text = text.replace('<body name="a"', '<body name="a" childclass="stiff"').replace(
            '<joint type="ball"/>', '<joint type="hinge" axis="1 0 0"/><joint type="hinge" axis="0 0 1"/>')
        text = text.replace("<actuator>", '<equality><connect name="tie" body1="b" anchor="0 0 -0.3"/><joint joint1="h"/></equality><actuator>')
        done, study = self.run_import("a.xml", text)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: <equality> joint", done.stdout)
        self.assertAlmostEqual(study["body"][0]["mass"], 2000*(math.pi*0.05**2*0.6 + 4/3*math.pi*0.05**3), 11)
        hinge, universal, tie = study["joint"]
        self.assertEqual((hinge["stiffness"], universal["type"], tie["type"], tie["between"]), (3, "universal", "spherical", ["b", "ground"]))
        for got, wanted in zip(universal["axis"] + universal["axis2"], [math.cos(math.pi/6), 0, -0.5, 0.5, 0, math.cos(math.pi/6)]):
            self.assertAlmostEqual(got, wanted, 14)
        for got, wanted in zip(tie["at"], [0.6*math.cos(math.pi/6) - 0.15, 0, 2 - 0.3 - 0.3*math.cos(math.pi/6)]):
            self.assertAlmostEqual(got, wanted, 14)

    def test_links_without_mass_hand_on_their_joints(self):
        """Three hinges of a hip whose links between have no mass, axes that meet in a point and are not orthogonal."""
        joint = '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{0}_link"/><origin xyz="{2}"/><axis xyz="{3}"/></joint>'
        chain = [("yaw", "base", "0 0 1", "0 0 1"), ("roll", "yaw_link", "0 0 -0.1", "1 0 0.5"), ("pitch", "roll_link", "0 0.3 0", "0 1 0")]
        text = "".join(f'<link name="{name}_link"/>' for name in ("yaw", "roll")) + "".join(joint.format(*one) for one in chain)
        text += '<link name="pitch_link"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1"/></inertial></link>'
        text += joint.format("tool", "pitch_link", "1 0 0", "0 1 0") + '<link name="tool_link"/>'
        done, study = self.run_import("hip.urdf", f'<robot><link name="base"/>{text}</robot>')
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("left out: without a mass of tool_link", done.stdout)
        (hip,) = study["joint"]
        self.assertEqual((len(study["body"]), hip["type"], hip["between"]), (1, "spherical", ["ground", "pitch_link"]))
        for got, wanted in zip(hip["at"], [0, 0, 0.9]):
            self.assertAlmostEqual(got, wanted, 14)

    def test_mjcf_frames_includes_and_masses(self):
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder)/"table.xml").write_text(
                '<mujoco><default class="all"><geom density="10"/></default><worldbody><frame pos="0 0 1" zaxis="1 0 0"><body name="table"><joint type="slide" axis="1 0 0"/>'
                '<joint type="slide" axis="1 1 0"/><geom type="box" size="1 1 1"/><body name="top" pos="0 0 3"><geom size="1"/></body></body></frame></worldbody></mujoco>')
            (pathlib.Path(folder)/"box.xml").write_text('<mujoco><worldbody><body><freejoint/><geom type="box" size="0.1 0.2" fromto="0 0 0 1 0 0"/></body></worldbody></mujoco>')
            subprocess.run([PROGRAM, "import", "box.xml", "--quiet"], cwd=folder, check=True)
            (beam,) = tomllib.loads((pathlib.Path(folder)/"box.toml").read_text())["body"]
            self.assertAlmostEqual(beam["mass"], 40, 12)  # MuJoCo's numbers: the first size counts for both sides
            for got, wanted in zip(beam["inertia"], [0.8/3, 10.4/3, 10.4/3]):
                self.assertAlmostEqual(got, wanted, 12)
            (pathlib.Path(folder)/"main.xml").write_text(
                '<mujoco><compiler settotalmass="3"/><option gravity="0 0 -1"><flag gravity="disable"/></option><include file="table.xml"/><worldbody><body name="post">'
                '<geom size="1" density="10"/></body></worldbody></mujoco>')
            done = subprocess.run([PROGRAM, "import", "main.xml", "-o", "main.toml"], cwd=folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            study = tomllib.loads((pathlib.Path(folder)/"main.toml").read_text())
        (table,), (joint,) = study["body"], study["joint"]  # the top is a part of the table, and the post one of the ground
        ball, box = 10*4/3*math.pi, 80.0
        self.assertAlmostEqual(table["mass"], 3*(box + ball)/(box + 2*ball), 13)
        self.assertAlmostEqual(table["center"][2], 3*ball/(box + ball), 13)
        self.assertNotIn("gravity", study["system"])
        self.assertEqual((joint["type"], joint["at"]), ("rectangular", [0, 0, 1]))
        for got, wanted in zip(joint["axis"], [1/math.sqrt(2), 0, 0]):
            self.assertAlmostEqual(got, wanted, 14)

    def test_faults(self):
        for name, text, message in (
                ("a.urdf", "<robot", "a.urdf: not XML (unclosed token: line 1, column 0)"),
                ("a.xml", "<sdf/>", "a.xml: neither URDF nor MJCF (its first element is <sdf>); write <robot> or <mujoco>"),
                ("a.urdf", "<robot/>", "a.urdf: the model has 0 links without a parent, and one is needed; correct the model"),
                ("a.urdf", URDF.replace('link="base"', 'link="bass"'), "a.urdf: joint 'shoulder' has no parent that is a link; correct the model"),
                ("a.urdf", URDF.replace('type="continuous"', 'type="hinge"'), "a.urdf: joint 'elbow' has the type 'hinge', which URDF does not have; correct the model"),
                ("a.xml", MJCF.replace('mass="1.5"', 'mass="x"'), 'a.xml: <geom mass="x"> does not have 1 number; correct the model'),
                ("a.xml", MJCF.replace('<joint type="ball"/>', "<joint/><joint/>"), "a.xml: body 'b' has 2 joints (hinge, hinge) that make none of the joints of a study (universal, spherical, planar, cylindrical, rectangular, cartesian, or free); put bodies between them"),
                ("a.urdf", URDF.replace('ixx="0.01" ixy="0.001" ixz="0" iyy="0.1" iyz="0" izz="0.1"', 'ixx="0" ixy="0" ixz="0" iyy="0" iyz="0" izz="0"').replace('<mass value="0.5"/>', '<mass value="0"/>'),
                 "a.urdf: body 'lower' has the mass 1 and the principal moments of inertia 0, 0, 0; each must be above 0"),
                ("a.xml", MJCF.replace("</default>", '</default><include file="none.xml"/>'), 'a.xml: <include file="none.xml">: cannot be read (No such file or directory)'),
                ("a.xml", MJCF.replace("</default>", '</default><include file="a.xml"/>'), 'a.xml: <include file="a.xml"> includes itself; correct the model'),
                ("a.xml", f"<mujoco><worldbody>{CHAIN*25}{'</body>'*25}</worldbody></mujoco>", "study of a.xml:150: 25 bodies have more than 64 velocities; at most 10 are possible"),
                ("a.xml", MJCF.replace('<body name="b"', '<replicate count="2"/><body name="b" childclass="x"'),
                 "a.xml: <replicate> is not taken; write its bodies (MuJoCo writes a model without it by mj_saveLastXML)"),
                ("a.xml", MJCF.replace('<body name="b"', '<body name="b" childclass="x"'), 'a.xml: <geom class="x">: there is no <default> of this class; correct the model'),
                ("a.xml", MJCF.replace("<actuator>", '<equality><connect body1="c" anchor="0 0 0"/></equality><actuator>'),
                 "a.xml: <connect> of <equality> names the body 'c', which is not there; correct the model"),
                ("a.xml", MJCF.replace('pos="0 0 2" euler', 'quat="0 0 0 0" euler'), "a.xml: a quaternion is 0 0 0 0; correct the model"),
                ("a.xml", MJCF.replace("<default>", '<compiler eulerseq="abc"/><default>'),
                 'a.xml: eulerseq="abc" is not three of the letters x, y, z, or of X, Y, Z; correct the model'),
                ("a.xml", MJCF.replace('name="b"', 'name="a"'), "a.xml: two bodies are called 'a'; correct the model"),
                ("a.xml", f"<mujoco><worldbody>{NESTED*2000}{'</body>'*2000}</worldbody></mujoco>",
                 "a.xml: its bodies are nested too deeply"),
                ("a.xml", MJCF.replace("<actuator>", '<equality><weld body1="a" body2="a"/></equality><actuator>'),
                 "a.xml: <weld> of <equality> is between 'a' and itself; correct the model"),
                ("a.xml", "<mujoco/>", "a.xml: the model has no <worldbody>; correct the model")):
            with self.subTest(message):
                done, study = self.run_import(name, text)
                self.assertEqual((done.returncode, done.stdout, study), (2, "", None))
                self.assertEqual(done.stderr, f"rattleback: {message}\n")


if __name__ == "__main__":
    PROGRAM = str(pathlib.Path(sys.argv.pop(1)).resolve())
    unittest.main()
