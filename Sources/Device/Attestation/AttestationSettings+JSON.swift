public import Encoding

/// A setting of attestation that is not one: its name, the rule, and what stood there.
public struct AttestationSettingFault: Error, Sendable, Hashable, CustomStringConvertible {
    /// The member, such as `boot_state` or `app.package`.
    public let name: String
    /// What it must be.
    public let rule: String
    /// What it is, cut to 80 characters.
    public let found: String

    /// The stable dotted name of the rule.
    public var code: String { "attestation.setting.\(name)" }

    /// The member, the rule and what was found.
    public var description: String { "\(name): \(rule), not \(found)" }
}

extension AttestationSettings {
    /// The settings as the control API and scenario files write them.
    public var json: JSON {
        [
            "sending": .string(sending.rawValue), "android_start": .string(androidStart.rawValue),
            "environment": .string(environment.rawValue), "extensions": .string(extensions.rawValue),
            "key_mint_version": .int(Int64(keyMintVersion)), "security_level": .string(securityLevel.rawValue),
            "provisioning": .string(provisioning.rawValue), "boot_state": .string(bootState.rawValue),
            "boot_locked": .bool(bootLocked), "os_version": .int(Int64(osVersion)),
            "os_patch_level": .int(Int64(osPatchLevel)), "vendor_patch_level": .int(Int64(vendorPatchLevel)),
            "boot_patch_level": .int(Int64(bootPatchLevel)), "app_verdict": .string(appVerdict.rawValue),
            "device_verdicts": .array(deviceVerdicts.map { .string($0) }),
            "licensing_verdict": .string(licensingVerdict.rawValue), "app": app.json,
            "defect": .string(defect.rawValue),
        ]
    }

    /// Takes what an object says; what it does not name stays as it is.
    ///
    /// Throws ``AttestationSettingFault`` for a member that is not known, or of another kind or value than it has;
    /// nothing is changed then.
    public mutating func apply(_ json: JSON) throws(AttestationSettingFault) {
        guard let object = json.object else {
            throw AttestationSettingFault(name: "attestation", rule: "an object", found: json.kind)
        }
        var changed = self
        for member in object.members { try changed.set(member.name, member.value) }
        self = changed
    }

    private mutating func set(_ name: String, _ value: JSON) throws(AttestationSettingFault) {
        switch name {
        case "sending": sending = try Self.choice(name, value)
        case "android_start":
            let format: EvidenceFormat = try Self.choice(name, value)
            guard !format.isAppAttest else { throw Self.fault(name, "a format of Android's", value) }
            androidStart = format
        case "environment": environment = try Self.choice(name, value)
        case "extensions": extensions = try Self.choice(name, value)
        case "key_mint_version":
            keyMintVersion = try Self.number(name, value)
            guard Self.keyMintVersions.contains(keyMintVersion) else {
                throw Self.fault(name, "one of 100, 200, 300, 400", value)
            }
        case "security_level": securityLevel = try Self.choice(name, value)
        case "provisioning": provisioning = try Self.choice(name, value)
        case "boot_state": bootState = try Self.choice(name, value)
        case "boot_locked":
            guard let flag = value.bool else { throw Self.fault(name, "true or false", value) }
            bootLocked = flag
        case "os_version": osVersion = try Self.number(name, value)
        case "os_patch_level": osPatchLevel = try Self.number(name, value)
        case "vendor_patch_level": vendorPatchLevel = try Self.number(name, value)
        case "boot_patch_level": bootPatchLevel = try Self.number(name, value)
        case "app_verdict": appVerdict = try Self.choice(name, value)
        case "device_verdicts": deviceVerdicts = try Self.verdicts(name, value)
        case "licensing_verdict": licensingVerdict = try Self.choice(name, value)
        case "app": try app.apply(value)
        case "defect": defect = try Self.choice(name, value)
        default: throw Self.unknown(name, among: json.object?.names ?? [])
        }
    }

    static func unknown(_ name: String, among known: [String]) -> AttestationSettingFault {
        let near = Nearest.match(name, among: known).map { "; did you mean '\($0)'?" } ?? ""
        let shown = String(name.prefix(80))
        return AttestationSettingFault(
            name: shown, rule: "one of \(known.joined(separator: ", "))", found: "'\(shown)'\(near)")
    }

    static let keyMintVersions = [100, 200, 300, 400]

    private static func choice<Choice: RawRepresentable & CaseIterable>(
        _ name: String, _ value: JSON
    ) throws(AttestationSettingFault) -> Choice where Choice.RawValue == String {
        guard let text = value.string, let choice = Choice(rawValue: text) else {
            let known = Choice.allCases.map(\.rawValue)
            let near = value.string.flatMap { Nearest.match($0, among: known) }.map { "; did you mean '\($0)'?" } ?? ""
            let wrong = fault(name, "one of \(known.joined(separator: ", "))", value)
            throw AttestationSettingFault(name: wrong.name, rule: wrong.rule, found: wrong.found + near)
        }
        return choice
    }

    static func number(_ name: String, _ value: JSON) throws(AttestationSettingFault) -> Int {
        guard let number = value.int.flatMap({ Int(exactly: $0) }), (0...Int(Int32.max)).contains(number) else {
            throw fault(name, "a number of 0 to \(Int32.max)", value)
        }
        return number
    }

    private static func verdicts(_ name: String, _ value: JSON) throws(AttestationSettingFault) -> [String] {
        let known = ["BASIC", "DEVICE", "STRONG", "VIRTUAL"].map { "MEETS_\($0)_INTEGRITY" }
        guard let list = value.array?.map(\.string), list.count <= known.count,
            list.allSatisfy({ $0.map(known.contains) == true })
        else { throw fault(name, "a list of \(known.joined(separator: ", "))", value) }
        return list.compactMap(\.self)
    }

    static func fault(_ name: String, _ rule: String, _ value: JSON) -> AttestationSettingFault {
        let found = value.string.map { "'\($0.prefix(80))'" } ?? value.int.map { "\($0)" } ?? value.kind
        return AttestationSettingFault(name: name, rule: rule, found: found)
    }
}

extension AppIdentity {
    /// The identity as the control API and scenario files write it.
    public var json: JSON {
        [
            "team_id": .string(teamID), "bundle_id": .string(bundleID), "package": .string(package),
            "version": .int(Int64(version)), "certificate_digest": .string(Hex.encode(certificateDigest)),
        ]
    }

    fileprivate mutating func apply(_ json: JSON) throws(AttestationSettingFault) {
        guard let object = json.object else { throw AttestationSettings.fault("app", "an object", json) }
        for member in object.members {
            let (name, value) = ("app.\(member.name.prefix(80))", member.value)
            switch member.name {
            case "team_id": teamID = try Self.text(name, value)
            case "bundle_id": bundleID = try Self.text(name, value)
            case "package": package = try Self.text(name, value)
            case "version": version = try AttestationSettings.number(name, value)
            case "certificate_digest":
                guard let bytes = value.string.flatMap({ try? Hex.decode($0) }), bytes.count == 32 else {
                    throw AttestationSettings.fault(name, "64 hexadecimal digits", value)
                }
                certificateDigest = bytes
            default:
                throw AttestationSettings.unknown(name, among: self.json.object?.names.map { "app.\($0)" } ?? [])
            }
        }
    }

    private static func text(_ name: String, _ value: JSON) throws(AttestationSettingFault) -> String {
        guard let text = value.string, (1...255).contains(text.utf8.count),
            text.utf8.allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { throw AttestationSettings.fault(name, "1 to 255 characters of ASCII without blanks", value) }
        return text
    }
}
