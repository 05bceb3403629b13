public import Encoding

/// One virtual phone: what it is, what it believes the time is, whose face it shows, and its install key.
///
/// Its keys, enrolments and session are stored beside it, under its identifier. Encoding a device writes its face's
/// secret: what is shown of it is made from its other properties.
public struct VirtualDevice: Codable, Sendable, Hashable {
    /// The device's name.
    public let id: DeviceID
    /// The platform it claims to be.
    public let platform: Platform
    /// What it believes the time is.
    public var clock: DeviceClock
    /// What its scans show.
    public var camera: Camera
    /// The face of the person who holds it.
    public var face: Face
    /// The install's DPoP key.
    public var installKey: KeyHandle
    /// What its platform says about it when its app asks for evidence.
    public var attestation: AttestationSettings
    /// When the device was made, on the wall clock.
    public let createdAt: Instant

    /// Makes a device from its parts.
    public init(
        id: DeviceID, platform: Platform, clock: DeviceClock = .real, camera: Camera = Camera(), face: Face,
        installKey: KeyHandle, attestation: AttestationSettings = AttestationSettings(), createdAt: Instant
    ) {
        self.id = id
        self.platform = platform
        self.clock = clock
        self.camera = camera
        self.face = face
        self.installKey = installKey
        self.attestation = attestation
        self.createdAt = createdAt
    }
}
