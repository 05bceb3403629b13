import Encoding

/// What a tenant expects of evidence about the calling app.
public struct AttestationPolicy: Sendable, Hashable {
    /// Which of App Attest's two environments a key may be of.
    public enum Environment: String, Sendable, Hashable, CaseIterable {
        /// Apps from the store.
        case production
        /// Apps from a developer's machine.
        case development
        /// Both.
        case any
    }

    /// Where a key lives, the least safe first.
    public enum Level: String, Sendable, Hashable, CaseIterable {
        /// In the operating system.
        case software
        /// In the trusted execution environment.
        case tee
        /// In a chip of its own.
        case strongBox

        /// The number the key attestation extension has for it.
        var number: Int64 {
            switch self {
            case .software: 0
            case .tee: 1
            case .strongBox: 2
            }
        }
    }

    /// What the boot of an Android phone must have been.
    public enum Boot: String, Sendable, Hashable, CaseIterable {
        /// Locked and verified.
        case verified
        /// Anything.
        case any
    }

    /// An Android app: its package and the certificates it may be signed with.
    public struct AndroidApp: Sendable, Hashable {
        /// The package name.
        public var package: String
        /// SHA-256 of each signing certificate, 32 bytes.
        public var certificateDigests: [[UInt8]]

        /// Names an app.
        public init(package: String, certificateDigests: [[UInt8]]) {
            self.package = package
            self.certificateDigests = certificateDigests
        }
    }

    /// The app ids of the tenant's iOS apps: team, a dot, bundle id.
    public var iosAppIDs: [String]
    /// The tenant's Android apps.
    public var androidApps: [AndroidApp]
    /// The environment App Attest keys must be of.
    public var environment = Environment.production
    /// The level Android keys must have at least.
    public var minimumLevel = Level.tee
    /// How the phone must have booted.
    public var boot = Boot.verified
    /// The oldest patch level, as YYYYMM; nil for any.
    public var minimumPatch: Int64?
    /// The device verdict a Play Integrity token must have; empty for none.
    public var playDevice = "MEETS_DEVICE_INTEGRITY"
    /// Whether the store must know the app.
    public var playApp = true
    /// Whether the store must have sold it.
    public var playLicensed = false

    /// Expects these apps, and the rest as it is unless changed.
    public init(iosAppIDs: [String] = [], androidApps: [AndroidApp] = []) {
        self.iosAppIDs = iosAppIDs
        self.androidApps = androidApps
    }

    /// Whether any app is known that evidence could be of.
    var namesAnApp: Bool { !iosAppIDs.isEmpty || !androidApps.isEmpty }

    /// The app of the standard seed, which the standard phone runs.
    static let seeded = AttestationPolicy(
        iosAppIDs: ["UNDERSTUDY.test.understudy.app"],
        androidApps: [
            AndroidApp(
                package: "test.understudy.app", certificateDigests: [[UInt8](repeating: 0x5A, count: 32)])
        ])
}
