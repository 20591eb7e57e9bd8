"""OIDs of PostgreSQL 15's own: the tables of its catalogue, the functions of its types."""


def _read(text: str) -> dict[str, int]:
    return {name: int(oid) for name, _, oid in (each.partition(":") for each in text.split())}


SYSTEM_TABLES = _read(
    """
    pg_default_acl:826 pg_tablespace:1213 pg_shdepend:1214 pg_type:1247 pg_attribute:1249
    pg_proc:1255 pg_class:1259 pg_authid:1260 pg_auth_members:1261 pg_database:1262
    pg_foreign_server:1417 pg_user_mapping:1418 pg_sequence:2224 pg_foreign_data_wrapper:2328
    pg_shdescription:2396 pg_aggregate:2600 pg_am:2601 pg_amop:2602 pg_amproc:2603 pg_attrdef:2604
    pg_cast:2605 pg_constraint:2606 pg_conversion:2607 pg_depend:2608 pg_description:2609
    pg_index:2610 pg_inherits:2611 pg_language:2612 pg_largeobject:2613 pg_namespace:2615
    pg_opclass:2616 pg_operator:2617 pg_rewrite:2618 pg_statistic:2619 pg_trigger:2620
    pg_opfamily:2753 pg_db_role_setting:2964 pg_largeobject_metadata:2995 pg_extension:3079
    pg_foreign_table:3118 pg_policy:3256 pg_partitioned_table:3350 pg_statistic_ext:3381
    pg_init_privs:3394 pg_statistic_ext_data:3429 pg_collation:3456 pg_event_trigger:3466
    pg_enum:3501 pg_range:3541 pg_transform:3576 pg_shseclabel:3592 pg_seclabel:3596
    pg_ts_dict:3600 pg_ts_parser:3601 pg_ts_config:3602 pg_ts_config_map:3603 pg_ts_template:3764
    pg_replication_origin:6000 pg_subscription:6100 pg_subscription_rel:6102 pg_publication:6104
    pg_publication_rel:6106 pg_publication_namespace:6237 pg_parameter_acl:6243
    """
)
INTERNAL = 2281  # the type that PostgreSQL gives functions which SQL cannot call
# types that nothing here has a value of: what their OIDs are called
OTHER_TYPES = {
    oid: name
    for name, oid in _read(
        """
        tid:27 cid:29 xml:142 pg_node_tree:194 lseg:601 path:602 box:603 polygon:604
        line:628 circle:718 macaddr8:774 money:790 aclitem:1033 bit:1560
        varbit:1562 refcursor:1790 cstring:2275
        any:2276 anyarray:2277 trigger:2279 language_handler:2280 internal:2281 anyelement:2283
        anynonarray:2776 fdw_handler:3115 pg_lsn:3220 anyenum:3500 tsvector:3614 tsquery:3615
        anyrange:3831 event_trigger:3838 jsonpath:4072
        regrole:4096 xid8:5069
        """
    ).items()
}
FUNCTIONS = _read(
    """
    array_in:750 array_out:751 array_recv:2400 array_send:2401 array_typanalyze:3816
    array_subscript_handler:6179
    boolin:1242 boolout:1243 boolrecv:2436 boolsend:2437 bpcharin:1044 bpcharout:1045
    bpcharrecv:2430 bpcharsend:2431 bpchartypmodin:2913 bpchartypmodout:2914 byteain:1244
    byteaout:31 bytearecv:2412 byteasend:2413 charin:1245 charout:33 charrecv:2434 charsend:2435
    date_in:1084 date_out:1085 date_recv:2468 date_send:2469 float4in:200 float4out:201
    float4recv:2424 float4send:2425 float8in:214 float8out:215 float8recv:2426 float8send:2427
    int2in:38 int2out:39 int2recv:2404 int2send:2405 int2vectorin:40 int2vectorout:41
    int2vectorrecv:2410 int2vectorsend:2411 int4in:42 int4out:43 int4recv:2406 int4send:2407
    int8in:460 int8out:461 int8recv:2408 int8send:2409 interval_in:1160 interval_out:1161
    interval_recv:2478 interval_send:2479 intervaltypmodin:2903 intervaltypmodout:2904 json_in:321
    json_out:322 json_recv:323 json_send:324 jsonb_in:3806 jsonb_out:3804 jsonb_recv:3805
    jsonb_send:3803 jsonb_subscript_handler:6098 namein:34 nameout:35 namerecv:2422 namesend:2423
    numeric_in:1701 numeric_out:1702 numeric_recv:2460 numeric_send:2461 numerictypmodin:2917
    numerictypmodout:2918 oidin:1798 oidout:1799 oidrecv:2418 oidsend:2419 oidvectorin:54
    oidvectorout:55 oidvectorrecv:2420 oidvectorsend:2421 raw_array_subscript_handler:6180
    record_in:2290 record_out:2291 record_recv:2402 record_send:2403 regclassin:2218
    regclassout:2219 regclassrecv:2452 regclasssend:2453 regnamespacein:4084 regnamespaceout:4085
    regnamespacerecv:4087 regnamespacesend:4088 regprocin:44 regprocout:45 regprocrecv:2444
    regprocsend:2445 regtypein:2220 regtypeout:2221 regtyperecv:2454 regtypesend:2455 textin:46
    textout:47 textrecv:2414 textsend:2415 time_in:1143 time_out:1144 time_recv:2470
    time_send:2471 timestamp_in:1312 timestamp_out:1313 timestamp_recv:2474 timestamp_send:2475
    timestamptypmodin:2905 timestamptypmodout:2906 timestamptz_in:1150 timestamptz_out:1151
    timestamptz_recv:2476 timestamptz_send:2477 timestamptztypmodin:2907 timestamptztypmodout:2908
    timetypmodin:2909 timetypmodout:2910 unknownin:109 unknownout:110 unknownrecv:2416
    unknownsend:2417 uuid_in:2952 uuid_out:2953 uuid_recv:2961 uuid_send:2962 varcharin:1046
    varcharout:1047 varcharrecv:2432 varcharsend:2433 varchartypmodin:2915 varchartypmodout:2916
    void_in:2298 void_out:2299 void_recv:3120 void_send:3121 xidin:50 xidout:51 xidrecv:2440
    xidsend:2441 heap_tableam_handler:3 bthandler:330 regprocedurein:2212 regprocedureout:2213
    regprocedurerecv:2446 regproceduresend:2447 regoperin:2214 regoperout:2215 regoperrecv:2448
    regopersend:2449 regoperatorin:2216 regoperatorout:2217 regoperatorrecv:2450
    regoperatorsend:2451 regconfigin:3736 regconfigout:3737 regconfigrecv:3738 regconfigsend:3739
    regdictionaryin:3771 regdictionaryout:3772 regdictionaryrecv:3773 regdictionarysend:3774
    point_in:117 point_out:118 point_recv:2428 point_send:2429
    macaddr_in:436 macaddr_out:437 macaddr_recv:2494 macaddr_send:2495 inet_in:910 inet_out:911
    inet_recv:2496 inet_send:2497 cidr_in:1267 cidr_out:1427 cidr_recv:2498 cidr_send:2499
    timetz_in:1350 timetz_out:1351 timetz_recv:2472 timetz_send:2473 timetztypmodin:2911
    timetztypmodout:2912 range_in:3834 range_out:3835 range_recv:3836 range_send:3837
    range_typanalyze:3916 multirange_in:4231 multirange_out:4232 multirange_recv:4233
    multirange_send:4234 multirange_typanalyze:4242
    int4range_canonical:3914 int8range_canonical:3928 daterange_canonical:3915
    int4range_subdiff:3922 int8range_subdiff:3923 numrange_subdiff:3924 daterange_subdiff:3925
    tsrange_subdiff:3929 tstzrange_subdiff:3930
    regcollationin:4193 regcollationout:4194 regcollationrecv:4196 regcollationsend:4197
    """
)
