import COpenSSL

/// Settings and trust shared by many TLS connections: made once, kept, and safe on every thread.
///
/// Owns one `SSL_CTX`. Sendable by hand: OpenSSL counts references to a context and locks what sessions share;
/// nothing here changes it after `init`.
final class TLSContext: @unchecked Sendable {
    private let pointer: OpaquePointer

    private init(_ method: OpaquePointer?) throws(TransportError) {
        guard let pointer = SSL_CTX_new(method) else { throw TLSFailure.error("no context") }
        self.pointer = pointer
        guard understudy_ssl_ctx_require_tls12(pointer) == 1 else { throw TLSFailure.error("TLS 1.2 is not available") }
        understudy_ssl_ctx_release_buffers(pointer)
        understudy_ssl_ctx_no_session_cache(pointer)
    }

    deinit { SSL_CTX_free(pointer) }

    /// The context of a client.
    ///
    /// - Throws: `.tls` when the file of authorities cannot be read.
    static func client(_ settings: TLSClientSettings) throws(TransportError) -> TLSContext {
        let context = try TLSContext(TLS_client_method())
        SSL_CTX_set_verify(context.pointer, SSL_VERIFY_PEER, nil)
        if let file = settings.caFile {
            ERR_clear_error()
            guard SSL_CTX_load_verify_file(context.pointer, file) == 1 else {
                throw TLSFailure.error("the CA file \(file) cannot be used: \(TLSFailure.queuedReason())")
            }
        } else {
            guard SSL_CTX_set_default_verify_paths(context.pointer) == 1 else {
                throw TLSFailure.error("the system's trust store cannot be used")
            }
        }
        let offered = ALPN.wireHTTP11
        // This call answers 0 for success, unlike its neighbours.
        guard SSL_CTX_set_alpn_protos(context.pointer, offered, UInt32(offered.count)) == 0 else {
            throw TLSFailure.error("ALPN cannot be set")
        }
        return context
    }

    /// The context of a server.
    ///
    /// - Throws: `.tls` when a file cannot be read or the key does not fit the certificate.
    static func server(_ settings: TLSServerSettings) throws(TransportError) -> TLSContext {
        let context = try TLSContext(TLS_server_method())
        SSL_CTX_set_num_tickets(context.pointer, 0)  // Nothing is resumed, so no tickets are sent.
        ERR_clear_error()
        let chain = settings.certificateChainFile
        guard SSL_CTX_use_certificate_chain_file(context.pointer, chain) == 1 else {
            throw TLSFailure.error("the certificate file \(chain) cannot be used: \(TLSFailure.queuedReason())")
        }
        let key = settings.privateKeyFile
        guard SSL_CTX_use_PrivateKey_file(context.pointer, key, SSL_FILETYPE_PEM) == 1 else {
            throw TLSFailure.error("the key file \(key) cannot be used: \(TLSFailure.queuedReason())")
        }
        guard SSL_CTX_check_private_key(context.pointer) == 1 else {
            throw TLSFailure.error("the key does not belong to the certificate")
        }
        SSL_CTX_set_alpn_select_cb(context.pointer, ALPN.select, nil)
        return context
    }

    /// A session that speaks first and wants the certificate to name `serverName` (a DNS name or IP literal).
    func clientSession(serverName: String) throws(TransportError) -> TLSSession {
        let session = try TLSSession(context: pointer)
        try session.becomeClient(serverName: serverName)
        return session
    }

    /// A session that waits for the peer's first flight.
    func serverSession() throws(TransportError) -> TLSSession {
        let session = try TLSSession(context: pointer)
        session.becomeServer()
        return session
    }
}

/// Application protocols named in the handshake (RFC 7301): we speak `http/1.1` and nothing else.
private enum ALPN {
    /// The list of protocols as the handshake carries it: each with its length before it.
    static let wireHTTP11: [UInt8] = [8] + Array("http/1.1".utf8)

    /// A server's choice; a client that offers a list without ours gets the `no_application_protocol` alert.
    static let select: SSL_CTX_alpn_select_cb_func = { _, out, outLength, offered, offeredLength, _ in
        guard let out, let outLength, let offered else { return SSL_TLSEXT_ERR_ALERT_FATAL }
        let name = Array(wireHTTP11.dropFirst())
        var index = 0
        while index < Int(offeredLength) {
            let length = Int(offered[index])
            let start = index + 1
            guard start + length <= Int(offeredLength) else { return SSL_TLSEXT_ERR_ALERT_FATAL }
            if length == name.count, (0..<length).allSatisfy({ offered[start + $0] == name[$0] }) {
                out.pointee = offered + start
                outLength.pointee = UInt8(length)
                return SSL_TLSEXT_ERR_OK
            }
            index = start + length
        }
        return SSL_TLSEXT_ERR_ALERT_FATAL
    }
}
