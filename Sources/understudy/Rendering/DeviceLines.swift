import Encoding

/// Devices, enrolments and sessions as lines.
enum DeviceLines {
    /// One device in full.
    static func lines(_ device: JSON) -> [String] {
        var pairs = [
            ("device", device.shown("id")), ("platform", device.shown("platform")), ("clock", device.shown("clock")),
            ("camera", camera(device)), ("install key", device.shown("install_jkt")),
        ]
        for enrolment in device["enrolments"]?.array ?? [] {
            pairs.append(("enrolled", "\(enrolment.shown("email")) at \(enrolment.shown("issuer"))"))
            pairs.append(("", "device key \(enrolment.shown("kid"))"))
        }
        if let session = device["session"], session != .null {
            pairs.append(("session", summary(session)))
        } else {
            pairs.append(("session", "none"))
        }
        if let provider = device["client_assertion_provider"], provider != .null {
            let client = provider["client_id"].flatMap { $0 == .null ? nil : $0.shown } ?? "any client"
            pairs.append(("assertions", "\(provider.shown("kind")), for \(client)"))
        }
        let unusual = AttestationOptions.shown(device["attestation"], all: false)
        if !unusual.isEmpty {
            pairs.append(("attestation", unusual.map { "\($0.0)=\($0.1)" }.joined(separator: " ")))
        }
        return Columns.pairs(pairs, indent: 0)
    }

    /// Many devices, one a line.
    static func table(_ document: JSON) -> [String] {
        let devices = document["devices"]?.array ?? []
        guard !devices.isEmpty else { return ["no devices; create one: understudy device create NAME"] }
        let rows = devices.map { device in
            [
                device.shown("id"), device.shown("platform"), device.shown("clock"), camera(device),
            ]
        }
        let more = document["next"]?.string.map { ["more: understudy device list --after \(Display.safe($0))"] } ?? []
        return Columns.table(["DEVICE", "PLATFORM", "CLOCK", "CAMERA"], rows) + more
    }

    /// One session in full.
    static func session(_ session: JSON) -> [String] {
        var pairs = [
            ("signed in as", session.shown("subject")), ("issuer", session.shown("issuer")),
            ("client", session.shown("client_id")), ("scope", session.list("scope").joined(separator: " ")),
        ]
        if let resource = session["resource"], resource != .null { pairs.append(("resource", resource.shown)) }
        if let expiry = session.time("expires_at") {
            pairs.append(("access token", (session.holds("expired") ? "expired " : "until ") + expiry))
        }
        pairs.append(("refresh token", session.holds("has_refresh_token") ? "yes" : "no"))
        if let claims = session["claims"]?.object {
            for claim in claims.members {
                let label = claim.name == claims.names.first ? "ID token" : ""
                pairs.append((label, "\(Display.safe(claim.name)) \(claim.value.shown)"))
            }
        }
        for name in ["access_token", "id_token", "refresh_token"] {
            if let token = session[name]?.string { pairs.append((name, Display.safe(token))) }
        }
        return Columns.pairs(pairs, indent: 0)
    }

    /// One session in a few words.
    static func summary(_ session: JSON) -> String {
        let expired = session.holds("expired") ? ", token expired" : ""
        return "\(session.shown("subject")) at \(session.shown("issuer"))\(expired)"
    }

    private static func camera(_ device: JSON) -> String {
        let queue = device.list("scans")
        let standard = device.shown("default_scan")
        return queue.isEmpty ? "\(standard), always" : queue.joined(separator: ", ") + ", then \(standard)"
    }
}
