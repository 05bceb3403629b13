import COpenSSL

/// One TLS connection as a filter between two byte streams; it never sees the socket.
///
/// Cipher text goes in by `receive`, comes out by `takeOutput`; plain text goes in by `write`, comes out by
/// `read`. Working on memory instead of the descriptor costs a copy of the cipher text and buys one read and
/// one write path for plain and encrypted connections, and freedom from "wants to read before it can write".
/// Used on its loop's thread only.
final class TLSSession {
    /// What a read found.
    enum Read {
        case bytes(Int)
        /// More cipher text is needed.
        case nothing
        /// The peer said it is done (close_notify).
        case closed
    }

    private let ssl: OpaquePointer
    private let incoming: OpaquePointer
    private let outgoing: OpaquePointer
    private var expectedName: String?

    /// True once the handshake is over.
    private(set) var isEstablished = false

    init(context: OpaquePointer) throws(TransportError) {
        guard let ssl = SSL_new(context) else { throw TLSFailure.error("no session") }
        guard let incoming = understudy_bio_memory() else {
            SSL_free(ssl)
            throw TLSFailure.error("no memory")
        }
        guard let outgoing = understudy_bio_memory() else {
            BIO_free(incoming)
            SSL_free(ssl)
            throw TLSFailure.error("no memory")
        }
        SSL_set_bio(ssl, incoming, outgoing)  // The session owns both from here.
        self.ssl = ssl
        self.incoming = incoming
        self.outgoing = outgoing
    }

    deinit { SSL_free(ssl) }

    /// Prepares a client: SNI for names (RFC 6066 forbids literals there) and the check of the certificate's name.
    func becomeClient(serverName: String) throws(TransportError) {
        let name = Resolver.bare(serverName)
        let isLiteral = SocketAddress(literal: name, port: 0) != nil
        if isLiteral {
            guard X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name) == 1 else {
                throw TLSFailure.error("the address \(name) cannot be checked")
            }
        } else {
            let dns = name.hasSuffix(".") ? String(name.dropLast()) : name
            SSL_set_hostflags(ssl, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS))
            guard !dns.isEmpty, SSL_set1_host(ssl, dns) == 1, understudy_ssl_set_server_name(ssl, dns) == 1 else {
                throw TLSFailure.error("the name \(name) cannot be checked")
            }
        }
        SSL_set_connect_state(ssl)
    }

    /// Prepares a server.
    func becomeServer() { SSL_set_accept_state(ssl) }

    /// Takes cipher text that came from the peer.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(TransportError) {
        guard BIO_write(incoming, bytes.baseAddress, Int32(bytes.count)) == Int32(bytes.count) else {
            throw TLSFailure.error("no memory for received records")
        }
    }

    /// Goes on with the handshake as far as the received bytes allow.
    ///
    /// - Returns: true when it is over. Output may have to be sent in either case, and also after an error.
    func handshake() throws(TransportError) -> Bool {
        guard !isEstablished else { return true }
        ERR_clear_error()
        let status = SSL_do_handshake(ssl)
        if status == 1 {
            isEstablished = true
            return true
        }
        switch SSL_get_error(ssl, status) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return false
        case SSL_ERROR_ZERO_RETURN: throw TLSFailure.error("the peer closed during the handshake")
        default: throw TLSFailure.error(of: ssl)
        }
    }

    /// Decrypts into a buffer.
    func read(into buffer: UnsafeMutableRawBufferPointer) throws(TransportError) -> Read {
        ERR_clear_error()
        let count = SSL_read(ssl, buffer.baseAddress, Int32(buffer.count))
        if count > 0 { return .bytes(Int(count)) }
        switch SSL_get_error(ssl, count) {
        case SSL_ERROR_WANT_READ, SSL_ERROR_WANT_WRITE: return .nothing
        case SSL_ERROR_ZERO_RETURN: return .closed
        default: throw TLSFailure.error(of: ssl)
        }
    }

    /// Encrypts; the result is among the output.
    func write(_ bytes: [UInt8]) throws(TransportError) {
        var rest = bytes[...]
        while !rest.isEmpty {
            ERR_clear_error()
            let part = rest.prefix(1 << 30)
            let count = part.withUnsafeBytes { SSL_write(ssl, $0.baseAddress, Int32($0.count)) }
            guard count > 0 else { throw TLSFailure.error(of: ssl) }
            rest = rest.dropFirst(Int(count))
        }
    }

    /// Tells the peer that nothing more will come (close_notify).
    func sendCloseNotify() {
        guard isEstablished else { return }
        ERR_clear_error()
        _ = SSL_shutdown(ssl)
        ERR_clear_error()
    }

    /// The cipher text to send now; empty when there is none.
    func takeOutput() -> [UInt8] {
        let count = Int(understudy_bio_pending(outgoing))
        guard count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            filled = Int(max(0, BIO_read(outgoing, buffer.baseAddress, Int32(count))))
        }
    }
}
