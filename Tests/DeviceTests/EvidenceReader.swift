import Crypto
import Encoding
import JOSE

@testable import Device

/// Reads evidence the way a strict server would, knowing nothing of how it was made, and names what is wrong.
struct EvidenceReader {
    let roots: PublishedRoots
    let settings: AttestationSettings
    /// What the server believes: its challenge, the request, the keys, the last counter and what it has seen.
    var data = Handset.data
    var attested: P256.PublicKey
    var subject: P256.PublicKey
    var counter: UInt32 = 0
    var seen: [Evidence] = []

    /// The faults found, by names of our own; none in genuine evidence.
    func faults(_ evidence: Evidence) -> Set<String> {
        var faults: Set<String> = []
        if evidence.challenge != data.challenge { faults.insert("challenge") }
        if seen.contains(evidence) { faults.insert("replay") }
        // A server that has one cause for refusing needs no second: a stale challenge is not looked at further.
        guard !faults.contains("challenge") else { return faults }
        switch evidence.format {
        case .appAttest: faults.formUnion(attestation(evidence))
        case .appAttestAssertion: faults.formUnion(assertion(evidence))
        case .androidKey: faults.formUnion(chain(evidence))
        case .playIntegrity, .playIntegrityClassic: faults.formUnion(token(evidence))
        }
        return faults
    }

    private func path(_ der: [[UInt8]], root: String) -> (leaf: X509Certificate?, fault: String?) {
        do throws(X509Error) {
            var certificates: [X509Certificate] = []
            for bytes in der { certificates.append(try X509Certificate(der: bytes)) }
            let anchors = try X509Certificate.all(pem: root)
            do throws(X509Error) {
                return (
                    try X509Chain.verify(leafFirst: certificates, anchors: anchors, at: Handset.now).leaf, nil
                )
            } catch {
                return (certificates[0], error.code)
            }
        } catch {
            return (nil, error.code)
        }
    }

    private func attestation(_ evidence: Evidence) -> Set<String> {
        guard let object = try? CBOR(parsing: evidence.object), let data = object["authData"]?.bytes,
            let x5c = object["attStmt"]?["x5c"]?.array?.compactMap(\.bytes), data.count >= 164,
            object["fmt"]?.text == "apple-appattest", object["attStmt"]?["receipt"]?.bytes?.isEmpty == false
        else { return ["form"] }
        var faults: Set<String> = []
        let (leaf, fault) = path(x5c, root: roots.appleRoot)
        if let fault { faults.insert(fault) }
        guard let leaf, let key = leaf.p256PublicKey else { return faults.union(["form"]) }
        let nonce = SHA256.hash(data + self.data.digest)
        let expected = DER.sequence([DER.explicit(1, DER.octetString(nonce))])
        if leaf.extensionValue("1.2.840.113635.100.8.2") != expected { faults.insert("binding") }
        faults.formUnion(appID(data))
        if data[33..<37] != [0, 0, 0, 0] { faults.insert("counter") }
        if data[37..<53] != (Array("appattest".utf8) + [UInt8](repeating: 0, count: 7))[...] {
            faults.insert("environment")
        }
        if data[53..<55] != [0, 32] { faults.insert("form") }
        if Array(data[55..<87]) != evidence.keyID || key.appAttestKeyID != evidence.keyID { faults.insert("key id") }
        let cose = try? CBOR(parsing: Array(data[87..<164]))
        if cose?[-2]?.bytes != key.x || cose?[-3]?.bytes != key.y { faults.insert("key") }
        return faults
    }

    private func assertion(_ evidence: Evidence) -> Set<String> {
        guard let object = try? CBOR(parsing: evidence.object), let data = object["authenticatorData"]?.bytes,
            let der = object["signature"]?.bytes, let raw = try? P256.ECDSASignature.raw(der: der), data.count >= 37
        else { return ["form"] }
        guard evidence.keyID == attested.appAttestKeyID else { return ["key id"] }
        var faults = appID(data)
        if !attested.verify(raw, of: SHA256.hash(data + self.data.digest)) { faults.insert("signature") }
        let counter = data[33..<37].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        if counter <= self.counter { faults.insert("counter") }
        return faults
    }

    private func appID(_ data: [UInt8]) -> Set<String> {
        Array(data.prefix(32)) == SHA256.hash(Array(settings.app.appID.utf8)) ? [] : ["app"]
    }

    private func chain(_ evidence: Evidence) -> Set<String> {
        var faults: Set<String> = []
        let (leaf, fault) = path(evidence.chain, root: roots.androidRoot)
        if let fault { faults.insert(fault) }
        guard let leaf else { return faults }
        if leaf.p256PublicKey != subject { faults.insert("key") }
        guard let value = leaf.extensionValue("1.3.6.1.4.1.11129.2.1.17"),
            let parts = try? DERElement(parsing: value).sequence(), parts.count == 8
        else { return faults.union(["form"]) }
        if (try? parts[4].octetString()) != data.digest { faults.insert("binding") }
        let levels = [try? parts[1].enumerated(), try? parts[3].enumerated()]
        guard levels != [0, 0] else { return faults.union(["level"]) }
        let (software, hardware) = (authorizations(parts[6]), authorizations(parts[7]))
        if let trust = try? hardware[704]?.sequence() {
            if (try? trust[1].boolean()) != true { faults.insert("locked") }
            if (try? trust[2].enumerated()) != 0 { faults.insert("boot") }
        } else {
            faults.insert("form")
        }
        guard let wrapped = try? software[709]?.octetString(),
            let id = try? DERElement(parsing: wrapped).sequence(), id.count == 2,
            let package = try? id[0].set().first?.sequence(), let digests = try? id[1].set()
        else { return faults.union(["form"]) }
        if (try? package[0].octetString()) != Array(settings.app.package.utf8) { faults.insert("app") }
        if (try? digests.first?.octetString()) != settings.app.certificateDigest { faults.insert("digest") }
        return faults
    }

    /// The elements of an authorization list by tag; none where tags are not in order.
    private func authorizations(_ list: DERElement) -> [Int: DERElement] {
        let parts = (try? list.sequence()) ?? []
        let tags = parts.compactMap(\.contextTag)
        guard tags.count == parts.count, tags == tags.sorted() else { return [:] }
        return Dictionary(uniqueKeysWithValues: zip(tags, parts.compactMap { $0.children?.first }))
    }

    private func token(_ evidence: Evidence) -> Set<String> {
        guard let key = try? Base64.decode(roots.playDecryptionKey),
            let plain = try? JWE.decrypt(evidence.token, key: key).plain,
            let spki = try? Base64.decode(roots.playVerificationKey), let signer = try? P256.PublicKey(spki: spki),
            let jws = try? JWS(compact: String(decoding: plain, as: UTF8.self))
        else { return ["form"] }
        guard let verdict = try? jws.verify(.p256(signer), algorithms: [.es256]).claims() else { return ["signature"] }
        var faults: Set<String> = []
        let bound = Base64URL.encode(data.digest)
        let request = verdict["requestDetails"]
        let isBound =
            evidence.format == .playIntegrity
            ? request?["requestHash"]?.string == bound : request?["nonce"]?.string == bound + "="
        if !isBound { faults.insert("binding") }
        let app = verdict["appIntegrity"]
        if app?["packageName"]?.string != settings.app.package { faults.insert("app") }
        if request?["requestPackageName"]?.string != settings.app.package { faults.insert("request package") }
        if app?["appRecognitionVerdict"] != "PLAY_RECOGNIZED" { faults.insert("recognition") }
        let digest = Base64URL.encode(settings.app.certificateDigest)
        if app?["certificateSha256Digest"] != .array([.string(digest)]) { faults.insert("digest") }
        let device = verdict["deviceIntegrity"]?["deviceRecognitionVerdict"]?.array
        if device?.contains("MEETS_DEVICE_INTEGRITY") != true { faults.insert("device") }
        return faults
    }
}
