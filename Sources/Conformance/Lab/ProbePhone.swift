public import Crypto
public import Device
import Encoding
import JOSE
import Profiles
import SignIn

/// A phone as probes need it: its keys, its face, and whom it is enrolled for.
public struct ProbePhone: Sendable {
    /// The key of the install, which signs DPoP proofs.
    public let installKey: P256.PrivateKey
    /// The key of the enrolment, which signs ceremonies.
    public let deviceKey: P256.PrivateKey
    /// The face that opens its face token.
    public let face: Face
    /// Whom it is enrolled for.
    public let email: String

    /// Takes a phone's keys for the time of a run.
    public init(installKey: P256.PrivateKey, deviceKey: P256.PrivateKey, face: Face, email: String) {
        self.installKey = installKey
        self.deviceKey = deviceKey
        self.face = face
        self.email = email
    }

    var kid: String { JWK.p256(deviceKey.publicKey).thumbprint }
    var jkt: String { JWK.p256(installKey.publicKey).thumbprint }

    /// What the machine of a sign-in must know.
    func facts(at issuer: String, attestation: DeviceFacts.Attestation) -> DeviceFacts {
        DeviceFacts(
            installThumbprint: jkt, enrolments: [.init(issuer: issuer, email: email, kid: kid)],
            attestation: attestation)
    }

    /// The same phone with another install key, as after the app was installed anew.
    func reinstalled(_ key: P256.PrivateKey) -> ProbePhone {
        ProbePhone(installKey: key, deviceKey: deviceKey, face: face, email: email)
    }
}

extension ProbePhone: CustomStringConvertible, CustomReflectable {
    /// Whom it is enrolled for.
    public var description: String { "phone of \(email)" }

    /// Hides keys and face from `dump` and from test failure messages.
    public var customMirror: Mirror { Mirror(self, children: ["phone": description]) }
}
