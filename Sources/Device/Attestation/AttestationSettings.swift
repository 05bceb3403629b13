/// What a virtual phone's platform says about it when its app asks for evidence.
///
/// Every member has the value of a genuine phone; the names are those of the control API and of scenario files.
public struct AttestationSettings: Sendable, Hashable, Codable {
    /// Whether the app sends evidence at all.
    public enum Sending: String, Sendable, Hashable, Codable, CaseIterable {
        /// Where the server says that it looks at evidence.
        case auto
        /// With every start and enrolment.
        case always
        /// Never: an app that was not built for it.
        case never
    }

    /// App Attest's environment.
    public enum Environment: String, Sendable, Hashable, Codable, CaseIterable {
        case production, development
    }

    /// What iOS 27 adds behind the key of the authenticator data.
    public enum Extensions: String, Sendable, Hashable, Codable, CaseIterable {
        /// Nothing, as up to iOS 26.
        case none
        /// The map, announced by the ED flag.
        case mapWithFlag
        /// The map without the flag, as Apple's own sample has it.
        case mapWithoutFlag
    }

    /// Where an Android key lives.
    public enum SecurityLevel: String, Sendable, Hashable, Codable, CaseIterable {
        case software, tee, strongBox
    }

    /// How an Android phone came by its attestation key.
    public enum Provisioning: String, Sendable, Hashable, Codable, CaseIterable {
        case factory, remote
    }

    /// What an Android phone's boot chain says of itself.
    public enum BootState: String, Sendable, Hashable, Codable, CaseIterable {
        case verified, selfSigned, unverified, failed
    }

    /// Play Integrity's verdict on the app.
    public enum AppVerdict: String, Sendable, Hashable, Codable, CaseIterable {
        case recognized = "PLAY_RECOGNIZED"
        case unrecognizedVersion = "UNRECOGNIZED_VERSION"
        case unevaluated = "UNEVALUATED"
    }

    /// Play Integrity's verdict on the account.
    public enum LicensingVerdict: String, Sendable, Hashable, Codable, CaseIterable {
        case licensed = "LICENSED"
        case unlicensed = "UNLICENSED"
        case unevaluated = "UNEVALUATED"
    }

    /// When the app sends evidence.
    public var sending = Sending.auto
    /// The evidence an Android app sends at a start; at an enrolment it is always its key's chain.
    public var androidStart = EvidenceFormat.playIntegrity
    /// App Attest's environment.
    public var environment = Environment.production
    /// What iOS 27 adds to App Attest.
    public var extensions = Extensions.none
    /// 300 or 400.
    public var keyMintVersion = 300
    /// Where the Android keys live.
    public var securityLevel = SecurityLevel.tee
    /// How the phone came by its attestation key.
    public var provisioning = Provisioning.remote
    /// What the boot chain found.
    public var bootState = BootState.verified
    /// Whether the bootloader is locked.
    public var bootLocked = true
    /// As in `160000`.
    public var osVersion = 160_000
    /// As in `202611`.
    public var osPatchLevel = 202_611
    /// As in `20261105`.
    public var vendorPatchLevel = 20_261_105
    /// As in `20261105`.
    public var bootPatchLevel = 20_261_105
    /// Play Integrity's verdict on the app.
    public var appVerdict = AppVerdict.recognized
    /// Any of `MEETS_BASIC_INTEGRITY`, `MEETS_DEVICE_INTEGRITY`, `MEETS_STRONG_INTEGRITY`, `MEETS_VIRTUAL_INTEGRITY`.
    public var deviceVerdicts = ["MEETS_BASIC_INTEGRITY", "MEETS_DEVICE_INTEGRITY", "MEETS_STRONG_INTEGRITY"]
    /// Play Integrity's verdict on the account.
    public var licensingVerdict = LicensingVerdict.licensed
    /// The app that asks.
    public var app = AppIdentity()
    /// What is wrong with the evidence on purpose.
    public var defect = AttestationDefect.none

    /// The settings of a genuine phone with the genuine app.
    public init() {}
}

/// The app a virtual phone runs, as the platforms name it.
public struct AppIdentity: Sendable, Hashable, Codable {
    /// The ten characters in front of an iOS app's bundle id.
    public var teamID = "UNDERSTUDY"
    /// The iOS bundle id.
    public var bundleID = "test.understudy.app"
    /// The Android package name.
    public var package = "test.understudy.app"
    /// `CFBundleVersion` and `versionCode`.
    public var version = 1
    /// SHA-256 of the certificate an Android app is signed with: 32 bytes.
    public var certificateDigest = [UInt8](repeating: 0x5A, count: 32)

    /// The identity that tenants of the reference IdP expect.
    public init() {}

    /// App Attest's App ID: team, dot, bundle id.
    public var appID: String { "\(teamID).\(bundleID)" }
}
