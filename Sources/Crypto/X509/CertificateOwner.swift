import COpenSSL
import Encoding

/// Owns one `X509`.
///
/// What OpenSSL works out lazily, its extensions, is asked for before anybody else sees it; from then on it is only
/// read, by any number of threads.
final class CertificateOwner: @unchecked Sendable {
    let pointer: OpaquePointer

    init(der: [UInt8]) throws(X509Error) {
        let parsed = der.withUnsafeBufferPointer { der -> OpaquePointer? in
            var next = der.baseAddress
            return d2i_X509(nil, &next, der.count)
        }
        guard let parsed else {
            ErrorQueue.clear()
            throw .malformed(reason: "no certificate")
        }
        pointer = parsed
        _ = X509_get_extension_flags(parsed)
        ErrorQueue.clear()
        guard X509_get0_pubkey(parsed) != nil else {
            ErrorQueue.clear()
            throw .malformed(reason: "a public key of an unknown kind")
        }
    }

    deinit { X509_free(pointer) }

    func subject() throws(X509Error) -> String { try Self.text(X509_get_subject_name(pointer)) }
    func issuer() throws(X509Error) -> String { try Self.text(X509_get_issuer_name(pointer)) }
    func subjectDER() throws(X509Error) -> [UInt8] {
        try Self.bytes { i2d_X509_NAME(X509_get_subject_name(pointer), $0) }
    }
    func issuerDER() throws(X509Error) -> [UInt8] {
        try Self.bytes { i2d_X509_NAME(X509_get_issuer_name(pointer), $0) }
    }
    func spki() throws(X509Error) -> [UInt8] { try Self.bytes { i2d_X509_PUBKEY(X509_get_X509_PUBKEY(pointer), $0) } }

    private static func text(_ name: OpaquePointer?) throws(X509Error) -> String {
        guard let name, let text = understudy_name_text(name) else {
            ErrorQueue.clear()
            throw .malformed(reason: "a name that cannot be written")
        }
        defer { understudy_openssl_free(text) }
        return String(cString: text)
    }

    /// What an `i2d_` function writes: asked for the length first, then for the bytes.
    private static func bytes(
        _ write: (UnsafeMutablePointer<UnsafeMutablePointer<UInt8>?>?) -> Int32
    ) throws(X509Error) -> [UInt8] {
        let count = write(nil)
        guard count > 0 else {
            ErrorQueue.clear()
            throw .malformed(reason: "a part that cannot be written")
        }
        return [UInt8](unsafeUninitializedCapacity: Int(count)) { bytes, filled in
            var next = bytes.baseAddress
            filled = Int(write(&next))
        }
    }

    func serial() throws(X509Error) -> [UInt8] {
        guard let number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(pointer), nil) else {
            ErrorQueue.clear()
            throw .malformed(reason: "a serial number that is none")
        }
        do {
            return try BigNumber(adopting: number).bytes()
        } catch {
            throw .malformed(reason: "a serial number that is none")
        }
    }

    func time(_ time: UnsafePointer<ASN1_TIME>?) throws(X509Error) -> Instant {
        var parts = tm()
        guard let time, ASN1_TIME_to_tm(time, &parts) == 1,
            let date = CalendarTime(
                year: Int(parts.tm_year) + 1900, month: Int(parts.tm_mon) + 1, day: Int(parts.tm_mday),
                hour: Int(parts.tm_hour), minute: Int(parts.tm_min), second: Int(parts.tm_sec))
        else {
            ErrorQueue.clear()
            throw .malformed(reason: "a time that is none")
        }
        return date.instant
    }

    func signatureAlgorithm() -> String {
        guard let name = OBJ_nid2sn(X509_get_signature_nid(pointer)) else { return "UNDEF" }
        return String(cString: name)
    }

    func extensions() throws(X509Error) -> [X509Certificate.Extension] {
        var found: [X509Certificate.Extension] = []
        for index in 0..<max(0, X509_get_ext_count(pointer)) {
            guard let part = X509_get_ext(pointer, index), let data = X509_EXTENSION_get_data(part) else {
                throw .malformed(reason: "an extension that cannot be read")
            }
            let count = Int(ASN1_STRING_length(data))
            let value = Array(UnsafeBufferPointer(start: ASN1_STRING_get0_data(data), count: count))
            let isCritical = X509_EXTENSION_get_critical(part) == 1
            let oid = try Self.dotted(X509_EXTENSION_get_object(part))
            found.append(X509Certificate.Extension(oid: oid, isCritical: isCritical, value: value))
        }
        return found
    }

    private static func dotted(_ object: OpaquePointer?) throws(X509Error) -> String {
        var text = [CChar](repeating: 0, count: 128)
        let count = OBJ_obj2txt(&text, Int32(text.count), object, 1)
        guard count > 0, Int(count) < text.count else {
            ErrorQueue.clear()
            throw .malformed(reason: "an object identifier that is none, or too long")
        }
        return String(decoding: text.prefix(Int(count)).map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    func keyUsage() -> X509Certificate.KeyUsage? {
        guard understudy_certificate_has_key_usage(pointer) == 1 else { return nil }
        return X509Certificate.KeyUsage(rawValue: X509_get_key_usage(pointer))
    }

    func basicConstraints() -> X509Certificate.BasicConstraints? {
        guard understudy_certificate_has_constraints(pointer) == 1 else { return nil }
        let pathLength = X509_get_pathlen(pointer)
        return X509Certificate.BasicConstraints(
            isAuthority: understudy_certificate_is_authority(pointer) == 1,
            pathLength: pathLength < 0 ? nil : Int(pathLength))
    }

    func isSigned(by signer: CertificateOwner) -> Bool {
        guard let key = X509_get0_pubkey(signer.pointer), X509_verify(pointer, key) == 1 else {
            ErrorQueue.clear()
            return false
        }
        return true
    }
}
