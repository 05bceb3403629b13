public import Device
public import Encoding

/// A device, and what it holds, for whoever asked.
public struct DeviceView: Sendable {
    /// The device.
    public let device: VirtualDevice
    /// The RFC 7638 thumbprint of its install key.
    public let installThumbprint: String
    /// Its enrolments, oldest first.
    public let enrolments: [Enrolment]
    /// Its session, if it is signed in.
    public let session: TokenSession?
    /// Who speaks for confidential clients, in a word or two, and for which client; nil where nobody was registered.
    public let clientAssertions: (kind: String, clientID: String?)?
    /// The time as the device believes it to be.
    public let now: Instant
}
