-- real: number of records
SELECT
  *
FROM (
  SELECT
    "t1"."candidate",
    COUNT(*) AS "records"
  FROM (
    SELECT
      CAST(FLOOR(
        (
          CASE
            WHEN "t0"."real" >= CAST(100.0 AS DOUBLE)
            THEN CAST(100.0 AS DOUBLE)
            ELSE CASE
              WHEN "t0"."real" >= CAST(-99.96875 AS DOUBLE)
              THEN "t0"."real"
              ELSE CAST(-99.96875 AS DOUBLE)
            END
          END - CAST(-100.125 AS DOUBLE)
        ) * CAST(4.0 AS DOUBLE)
      ) AS BIGINT) AS "candidate"
    FROM "people" AS "t0"
    WHERE
      NOT (
        "t0"."real" IS NULL
      )
      AND NOT (
        IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
  ) AS "t1"
  GROUP BY
    1
) AS "t2";
-- real: counts of values
-- real: counts of counts
-- real: counts in bins
-- real: rank of a candidate
-- real: ranks near quantiles
-- real: sums of levels
SELECT
  COUNT("t2"."candidate_0") AS "records_0",
  COALESCE(SUM("t2"."level_0"), 0) AS "level_0"
FROM (
  SELECT
    "t1"."candidate_0",
    "t1"."candidate_0" AS "level_0"
  FROM (
    SELECT
      CAST(FLOOR(
        (
          CASE
            WHEN "t0"."real" >= CAST(100.0 AS DOUBLE)
            THEN CAST(100.0 AS DOUBLE)
            ELSE CASE
              WHEN "t0"."real" >= CAST(-99.96875 AS DOUBLE)
              THEN "t0"."real"
              ELSE CAST(-99.96875 AS DOUBLE)
            END
          END - CAST(-100.125 AS DOUBLE)
        ) * CAST(4.0 AS DOUBLE)
      ) AS BIGINT) AS "candidate_0"
    FROM "people" AS "t0"
    WHERE
      NOT (
        "t0"."real" IS NULL
      )
      AND NOT (
        IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
  ) AS "t1"
) AS "t2";
-- real: sums of squares
SELECT
  COUNT("t2"."candidate_0") AS "records_0",
  COALESCE(SUM("t2"."level_0"), 0) AS "level_0",
  COALESCE(SUM("t2"."square_0"), 0) AS "square_0"
FROM (
  SELECT
    "t1"."candidate_0",
    "t1"."candidate_0" AS "level_0",
    "t1"."candidate_0" * "t1"."candidate_0" AS "square_0"
  FROM (
    SELECT
      CAST(FLOOR(
        (
          CASE
            WHEN "t0"."real" >= CAST(100.0 AS DOUBLE)
            THEN CAST(100.0 AS DOUBLE)
            ELSE CASE
              WHEN "t0"."real" >= CAST(-99.96875 AS DOUBLE)
              THEN "t0"."real"
              ELSE CAST(-99.96875 AS DOUBLE)
            END
          END - CAST(-100.125 AS DOUBLE)
        ) * CAST(4.0 AS DOUBLE)
      ) AS BIGINT) AS "candidate_0"
    FROM "people" AS "t0"
    WHERE
      NOT (
        "t0"."real" IS NULL
      )
      AND NOT (
        IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
  ) AS "t1"
) AS "t2";
-- real: candidate by its count
-- day: number of records
SELECT
  *
FROM (
  SELECT
    "t2"."candidate",
    COUNT(*) AS "records"
  FROM (
    SELECT
      CAST(FLOOR(
        CAST((
          CASE
            WHEN CAST(FLOOR(
              (
                CAST((
                  CASE
                    WHEN "t1"."value_0" IS NULL
                    THEN NULL
                    ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                  END - CASE
                    WHEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) < 0
                    THEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) + 86400000000
                    ELSE (
                      (
                        CASE
                          WHEN "t1"."value_0" IS NULL
                          THEN NULL
                          ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                        END % 86400000000
                      ) + 86400000000
                    ) % 86400000000
                  END
                ) AS DOUBLE) / 86400000000
              ) + CAST(0.5 AS DOUBLE)
            ) AS BIGINT) IS NULL
            THEN NULL
            ELSE GREATEST(
              LEAST(
                CAST(FLOOR(
                  (
                    CAST((
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END - CASE
                        WHEN (
                          (
                            (
                              CASE
                                WHEN "t1"."value_0" IS NULL
                                THEN NULL
                                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                              END % 86400000000
                            ) + 86400000000
                          ) % 86400000000
                        ) < 0
                        THEN (
                          (
                            (
                              CASE
                                WHEN "t1"."value_0" IS NULL
                                THEN NULL
                                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                              END % 86400000000
                            ) + 86400000000
                          ) % 86400000000
                        ) + 86400000000
                        ELSE (
                          (
                            CASE
                              WHEN "t1"."value_0" IS NULL
                              THEN NULL
                              ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                            END % 86400000000
                          ) + 86400000000
                        ) % 86400000000
                      END
                    ) AS DOUBLE) / 86400000000
                  ) + CAST(0.5 AS DOUBLE)
                ) AS BIGINT),
                47482
              ),
              -25567
            )
          END - -25567
        ) AS DOUBLE) / 32
      ) AS BIGINT) * 32 AS "candidate"
    FROM (
      SELECT
        (
          CAST(TO_UNIXTIME(
            CAST(LEAST(
              GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
              FROM_ISO8601_DATE('2100-01-03')
            ) AS TIMESTAMP)
          ) AS BIGINT) * 1000000
        ) + CAST(CAST(DATE_FORMAT(
          CAST(LEAST(
            GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
            FROM_ISO8601_DATE('2100-01-03')
          ) AS TIMESTAMP),
          '%f'
        ) AS INTEGER) AS BIGINT) AS "value_0"
      FROM "people" AS "t0"
      WHERE
        NOT (
          "t0"."day" IS NULL
        )
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    1
) AS "t3";
-- day: counts of values
SELECT
  *
FROM (
  SELECT
    "t2"."candidate",
    COUNT(*) AS "records"
  FROM (
    SELECT
      CASE
        WHEN CAST(FLOOR(
          (
            CAST((
              CASE
                WHEN "t1"."value_0" IS NULL
                THEN NULL
                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
              END - CASE
                WHEN (
                  (
                    (
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END % 86400000000
                    ) + 86400000000
                  ) % 86400000000
                ) < 0
                THEN (
                  (
                    (
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END % 86400000000
                    ) + 86400000000
                  ) % 86400000000
                ) + 86400000000
                ELSE (
                  (
                    CASE
                      WHEN "t1"."value_0" IS NULL
                      THEN NULL
                      ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                    END % 86400000000
                  ) + 86400000000
                ) % 86400000000
              END
            ) AS DOUBLE) / 86400000000
          ) + CAST(0.5 AS DOUBLE)
        ) AS BIGINT) IS NULL
        THEN NULL
        ELSE GREATEST(
          LEAST(
            CAST(FLOOR(
              (
                CAST((
                  CASE
                    WHEN "t1"."value_0" IS NULL
                    THEN NULL
                    ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                  END - CASE
                    WHEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) < 0
                    THEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) + 86400000000
                    ELSE (
                      (
                        CASE
                          WHEN "t1"."value_0" IS NULL
                          THEN NULL
                          ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                        END % 86400000000
                      ) + 86400000000
                    ) % 86400000000
                  END
                ) AS DOUBLE) / 86400000000
              ) + CAST(0.5 AS DOUBLE)
            ) AS BIGINT),
            47482
          ),
          -25567
        )
      END - -25567 AS "candidate"
    FROM (
      SELECT
        (
          CAST(TO_UNIXTIME(
            CAST(LEAST(
              GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
              FROM_ISO8601_DATE('2100-01-03')
            ) AS TIMESTAMP)
          ) AS BIGINT) * 1000000
        ) + CAST(CAST(DATE_FORMAT(
          CAST(LEAST(
            GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
            FROM_ISO8601_DATE('2100-01-03')
          ) AS TIMESTAMP),
          '%f'
        ) AS INTEGER) AS BIGINT) AS "value_0"
      FROM "people" AS "t0"
      WHERE
        NOT (
          "t0"."day" IS NULL
        )
    ) AS "t1"
  ) AS "t2"
  GROUP BY
    1
) AS "t3";
-- day: counts of counts
-- day: counts in bins
-- day: rank of a candidate
-- day: ranks near quantiles
-- day: sums of levels
SELECT
  COUNT("t3"."candidate_0") AS "records_0",
  COALESCE(SUM("t3"."level_0"), 0) AS "level_0"
FROM (
  SELECT
    "t2"."candidate_0",
    "t2"."candidate_0" AS "level_0"
  FROM (
    SELECT
      CASE
        WHEN CAST(FLOOR(
          (
            CAST((
              CASE
                WHEN "t1"."value_0" IS NULL
                THEN NULL
                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
              END - CASE
                WHEN (
                  (
                    (
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END % 86400000000
                    ) + 86400000000
                  ) % 86400000000
                ) < 0
                THEN (
                  (
                    (
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END % 86400000000
                    ) + 86400000000
                  ) % 86400000000
                ) + 86400000000
                ELSE (
                  (
                    CASE
                      WHEN "t1"."value_0" IS NULL
                      THEN NULL
                      ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                    END % 86400000000
                  ) + 86400000000
                ) % 86400000000
              END
            ) AS DOUBLE) / 86400000000
          ) + CAST(0.5 AS DOUBLE)
        ) AS BIGINT) IS NULL
        THEN NULL
        ELSE GREATEST(
          LEAST(
            CAST(FLOOR(
              (
                CAST((
                  CASE
                    WHEN "t1"."value_0" IS NULL
                    THEN NULL
                    ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                  END - CASE
                    WHEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) < 0
                    THEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) + 86400000000
                    ELSE (
                      (
                        CASE
                          WHEN "t1"."value_0" IS NULL
                          THEN NULL
                          ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                        END % 86400000000
                      ) + 86400000000
                    ) % 86400000000
                  END
                ) AS DOUBLE) / 86400000000
              ) + CAST(0.5 AS DOUBLE)
            ) AS BIGINT),
            47482
          ),
          -25567
        )
      END - -25567 AS "candidate_0"
    FROM (
      SELECT
        (
          CAST(TO_UNIXTIME(
            CAST(LEAST(
              GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
              FROM_ISO8601_DATE('2100-01-03')
            ) AS TIMESTAMP)
          ) AS BIGINT) * 1000000
        ) + CAST(CAST(DATE_FORMAT(
          CAST(LEAST(
            GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
            FROM_ISO8601_DATE('2100-01-03')
          ) AS TIMESTAMP),
          '%f'
        ) AS INTEGER) AS BIGINT) AS "value_0"
      FROM "people" AS "t0"
      WHERE
        NOT (
          "t0"."day" IS NULL
        )
    ) AS "t1"
  ) AS "t2"
) AS "t3";
-- day: sums of squares
SELECT
  COUNT("t5"."candidate_0") AS "records_0",
  COALESCE(SUM("t5"."level_0"), 0) AS "level_0",
  COALESCE(SUM("t5"."square_0_0"), 0) AS "square_0_0",
  COALESCE(SUM("t5"."square_0"), 0) AS "square_0"
FROM (
  SELECT
    "t4"."candidate_0",
    "t4"."level_0",
    CAST(FLOOR((
      "t4"."square_0" - "t4"."square_0_0"
    ) * CAST(4.76837158203125e-07 AS DOUBLE)) AS BIGINT) AS "square_0",
    "t4"."square_0_0"
  FROM (
    SELECT
      "t3"."candidate_0",
      "t3"."level_0",
      "t3"."level_0" * "t3"."level_0" AS "square_0",
      (
        (
          (
            "t3"."level_0" * "t3"."level_0"
          ) % 2097152
        ) + 2097152
      ) % 2097152 AS "square_0_0"
    FROM (
      SELECT
        "t2"."candidate_0",
        CAST(FLOOR(
          (
            (
              (
                "t2"."candidate_0" - -1
              ) - (
                (
                  (
                    (
                      "t2"."candidate_0" - -1
                    ) % 2
                  ) + 2
                ) % 2
              )
            ) * CAST(0.5 AS DOUBLE)
          ) + CAST(0.5 AS DOUBLE)
        ) AS BIGINT) AS "level_0"
      FROM (
        SELECT
          CASE
            WHEN CAST(FLOOR(
              (
                CAST((
                  CASE
                    WHEN "t1"."value_0" IS NULL
                    THEN NULL
                    ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                  END - CASE
                    WHEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) < 0
                    THEN (
                      (
                        (
                          CASE
                            WHEN "t1"."value_0" IS NULL
                            THEN NULL
                            ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                          END % 86400000000
                        ) + 86400000000
                      ) % 86400000000
                    ) + 86400000000
                    ELSE (
                      (
                        CASE
                          WHEN "t1"."value_0" IS NULL
                          THEN NULL
                          ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                        END % 86400000000
                      ) + 86400000000
                    ) % 86400000000
                  END
                ) AS DOUBLE) / 86400000000
              ) + CAST(0.5 AS DOUBLE)
            ) AS BIGINT) IS NULL
            THEN NULL
            ELSE GREATEST(
              LEAST(
                CAST(FLOOR(
                  (
                    CAST((
                      CASE
                        WHEN "t1"."value_0" IS NULL
                        THEN NULL
                        ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                      END - CASE
                        WHEN (
                          (
                            (
                              CASE
                                WHEN "t1"."value_0" IS NULL
                                THEN NULL
                                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                              END % 86400000000
                            ) + 86400000000
                          ) % 86400000000
                        ) < 0
                        THEN (
                          (
                            (
                              CASE
                                WHEN "t1"."value_0" IS NULL
                                THEN NULL
                                ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                              END % 86400000000
                            ) + 86400000000
                          ) % 86400000000
                        ) + 86400000000
                        ELSE (
                          (
                            CASE
                              WHEN "t1"."value_0" IS NULL
                              THEN NULL
                              ELSE GREATEST(LEAST("t1"."value_0", 4102617600000000), -2209075200000000)
                            END % 86400000000
                          ) + 86400000000
                        ) % 86400000000
                      END
                    ) AS DOUBLE) / 86400000000
                  ) + CAST(0.5 AS DOUBLE)
                ) AS BIGINT),
                47482
              ),
              -25567
            )
          END - -25567 AS "candidate_0"
        FROM (
          SELECT
            (
              CAST(TO_UNIXTIME(
                CAST(LEAST(
                  GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
                  FROM_ISO8601_DATE('2100-01-03')
                ) AS TIMESTAMP)
              ) AS BIGINT) * 1000000
            ) + CAST(CAST(DATE_FORMAT(
              CAST(LEAST(
                GREATEST("t0"."day", FROM_ISO8601_DATE('1899-12-31')),
                FROM_ISO8601_DATE('2100-01-03')
              ) AS TIMESTAMP),
              '%f'
            ) AS INTEGER) AS BIGINT) AS "value_0"
          FROM "people" AS "t0"
          WHERE
            NOT (
              "t0"."day" IS NULL
            )
        ) AS "t1"
      ) AS "t2"
    ) AS "t3"
  ) AS "t4"
) AS "t5";
-- day: candidate by its count
-- real by region: number of records
SELECT
  "t7"."candidate",
  "t7"."records",
  "t3"."group_number"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "t4"."key_0",
      "t4"."candidate",
      COUNT(*) AS "records"
    FROM (
      SELECT
        "t1"."region" AS "key_0",
        CAST(FLOOR(
          (
            CASE
              WHEN "t1"."real" >= CAST(100.0 AS DOUBLE)
              THEN CAST(100.0 AS DOUBLE)
              ELSE CASE
                WHEN "t1"."real" >= CAST(-99.96875 AS DOUBLE)
                THEN "t1"."real"
                ELSE CAST(-99.96875 AS DOUBLE)
              END
            END - CAST(-100.125 AS DOUBLE)
          ) * CAST(4.0 AS DOUBLE)
        ) AS BIGINT) AS "candidate"
      FROM "people" AS "t1"
      WHERE
        NOT (
          "t1"."real" IS NULL
        )
        AND NOT (
          IF("t1"."real" IS NULL, NULL, IS_NAN("t1"."real"))
        )
    ) AS "t4"
    GROUP BY
      1,
      2
  ) AS "t5"
) AS "t7"
INNER JOIN (
  SELECT
    *
  FROM "ibis_pyarrow_memtable_0" AS "t0"
) AS "t3"
  ON "t7"."key_0" = "t3"."key_0";
-- real by region: counts of values
-- real by region: counts of counts
-- real by region: counts in bins
-- real by region: rank of a candidate
-- real by region: ranks near quantiles
-- real by region: sums of levels
SELECT
  "t8"."records_0",
  "t8"."level_0",
  "t3"."group_number"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "t5"."key_0",
      COUNT("t5"."candidate_0") AS "records_0",
      COALESCE(SUM("t5"."level_0"), 0) AS "level_0"
    FROM (
      SELECT
        "t4"."candidate_0",
        "t4"."key_0",
        "t4"."candidate_0" AS "level_0"
      FROM (
        SELECT
          CAST(FLOOR(
            (
              CASE
                WHEN "t1"."real" >= CAST(100.0 AS DOUBLE)
                THEN CAST(100.0 AS DOUBLE)
                ELSE CASE
                  WHEN "t1"."real" >= CAST(-99.96875 AS DOUBLE)
                  THEN "t1"."real"
                  ELSE CAST(-99.96875 AS DOUBLE)
                END
              END - CAST(-100.125 AS DOUBLE)
            ) * CAST(4.0 AS DOUBLE)
          ) AS BIGINT) AS "candidate_0",
          "t1"."region" AS "key_0"
        FROM "people" AS "t1"
        WHERE
          NOT (
            "t1"."real" IS NULL
          )
          AND NOT (
            IF("t1"."real" IS NULL, NULL, IS_NAN("t1"."real"))
          )
      ) AS "t4"
    ) AS "t5"
    GROUP BY
      1
  ) AS "t6"
) AS "t8"
INNER JOIN (
  SELECT
    *
  FROM "ibis_pyarrow_memtable_0" AS "t0"
) AS "t3"
  ON "t8"."key_0" = "t3"."key_0";
-- real by region: sums of squares
SELECT
  "t8"."records_0",
  "t8"."level_0",
  "t8"."square_0",
  "t3"."group_number"
FROM (
  SELECT
    *
  FROM (
    SELECT
      "t5"."key_0",
      COUNT("t5"."candidate_0") AS "records_0",
      COALESCE(SUM("t5"."level_0"), 0) AS "level_0",
      COALESCE(SUM("t5"."square_0"), 0) AS "square_0"
    FROM (
      SELECT
        "t4"."candidate_0",
        "t4"."key_0",
        "t4"."candidate_0" AS "level_0",
        "t4"."candidate_0" * "t4"."candidate_0" AS "square_0"
      FROM (
        SELECT
          CAST(FLOOR(
            (
              CASE
                WHEN "t1"."real" >= CAST(100.0 AS DOUBLE)
                THEN CAST(100.0 AS DOUBLE)
                ELSE CASE
                  WHEN "t1"."real" >= CAST(-99.96875 AS DOUBLE)
                  THEN "t1"."real"
                  ELSE CAST(-99.96875 AS DOUBLE)
                END
              END - CAST(-100.125 AS DOUBLE)
            ) * CAST(4.0 AS DOUBLE)
          ) AS BIGINT) AS "candidate_0",
          "t1"."region" AS "key_0"
        FROM "people" AS "t1"
        WHERE
          NOT (
            "t1"."real" IS NULL
          )
          AND NOT (
            IF("t1"."real" IS NULL, NULL, IS_NAN("t1"."real"))
          )
      ) AS "t4"
    ) AS "t5"
    GROUP BY
      1
  ) AS "t6"
) AS "t8"
INNER JOIN (
  SELECT
    *
  FROM "ibis_pyarrow_memtable_0" AS "t0"
) AS "t3"
  ON "t8"."key_0" = "t3"."key_0";
-- real by region: candidate by its count
-- small of people: number of records
SELECT
  *
FROM (
  SELECT
    "t5"."candidate",
    COUNT(*) AS "records"
  FROM (
    SELECT
      "t4"."candidate_0" AS "candidate"
    FROM (
      SELECT
        "t3"."candidate_0",
        "t3"."person",
        "t3"."copy_number",
        "t3"."mixed",
        ROW_NUMBER() OVER (
          PARTITION BY "t3"."person"
          ORDER BY "t3"."mixed" ASC, "t3"."candidate_0" ASC, "t3"."copy_number" ASC
        ) - 1 AS "place"
      FROM (
        SELECT
          "t2"."candidate_0",
          "t2"."person",
          "t2"."copy_number",
          MD5(
            CONCAT(
              CONCAT(
                CONCAT(
                  CONCAT(
                    CONCAT(
                      CONCAT('a00641a9f1e54a8be5afcdbcaf266a95', '|'),
                      COALESCE(CAST("t2"."person" AS VARCHAR), '')
                    ),
                    '|'
                  ),
                  COALESCE(CAST("t2"."candidate_0" AS VARCHAR), '')
                ),
                '|'
              ),
              COALESCE(CAST("t2"."copy_number" AS VARCHAR), '')
            )
          ) AS "mixed"
        FROM (
          SELECT
            "t1"."candidate_0",
            "t1"."person",
            ROW_NUMBER() OVER (PARTITION BY "t1"."person", "t1"."candidate_0" ORDER BY "t1"."person" ASC) - 1 AS "copy_number"
          FROM (
            SELECT
              CASE
                WHEN "t0"."small" IS NULL
                THEN NULL
                ELSE GREATEST(LEAST("t0"."small", 40), 0)
              END - 0 AS "candidate_0",
              "t0"."person_id" AS "person"
            FROM "people" AS "t0"
            WHERE
              NOT (
                "t0"."small" IS NULL
              ) AND NOT (
                "t0"."person_id" IS NULL
              )
          ) AS "t1"
        ) AS "t2"
      ) AS "t3"
    ) AS "t4"
    WHERE
      "t4"."place" < 2
  ) AS "t5"
  GROUP BY
    1
) AS "t6";
-- small of people: counts of values
-- small of people: counts of counts
-- small of people: counts in bins
-- small of people: rank of a candidate
-- small of people: ranks near quantiles
-- small of people: sums of levels
SELECT
  COUNT("t5"."candidate_0") AS "records_0",
  COALESCE(SUM("t5"."level_0"), 0) AS "level_0"
FROM (
  SELECT
    "t4"."candidate_0",
    "t4"."candidate_0" AS "level_0"
  FROM (
    SELECT
      "t3"."candidate_0",
      "t3"."person",
      "t3"."copy_number",
      "t3"."mixed",
      ROW_NUMBER() OVER (
        PARTITION BY "t3"."person"
        ORDER BY "t3"."mixed" ASC, "t3"."candidate_0" ASC, "t3"."copy_number" ASC
      ) - 1 AS "place"
    FROM (
      SELECT
        "t2"."candidate_0",
        "t2"."person",
        "t2"."copy_number",
        MD5(
          CONCAT(
            CONCAT(
              CONCAT(
                CONCAT(
                  CONCAT(
                    CONCAT('a00641a9f1e54a8be5afcdbcaf266a95', '|'),
                    COALESCE(CAST("t2"."person" AS VARCHAR), '')
                  ),
                  '|'
                ),
                COALESCE(CAST("t2"."candidate_0" AS VARCHAR), '')
              ),
              '|'
            ),
            COALESCE(CAST("t2"."copy_number" AS VARCHAR), '')
          )
        ) AS "mixed"
      FROM (
        SELECT
          "t1"."candidate_0",
          "t1"."person",
          ROW_NUMBER() OVER (PARTITION BY "t1"."person", "t1"."candidate_0" ORDER BY "t1"."person" ASC) - 1 AS "copy_number"
        FROM (
          SELECT
            CASE
              WHEN "t0"."small" IS NULL
              THEN NULL
              ELSE GREATEST(LEAST("t0"."small", 40), 0)
            END - 0 AS "candidate_0",
            "t0"."person_id" AS "person"
          FROM "people" AS "t0"
          WHERE
            NOT (
              "t0"."small" IS NULL
            ) AND NOT (
              "t0"."person_id" IS NULL
            )
        ) AS "t1"
      ) AS "t2"
    ) AS "t3"
  ) AS "t4"
  WHERE
    "t4"."place" < 2
) AS "t5";
-- small of people: sums of squares
SELECT
  COUNT("t5"."candidate_0") AS "records_0",
  COALESCE(SUM("t5"."level_0"), 0) AS "level_0",
  COALESCE(SUM("t5"."square_0"), 0) AS "square_0"
FROM (
  SELECT
    "t4"."candidate_0",
    "t4"."candidate_0" AS "level_0",
    "t4"."candidate_0" * "t4"."candidate_0" AS "square_0"
  FROM (
    SELECT
      "t3"."candidate_0",
      "t3"."person",
      "t3"."copy_number",
      "t3"."mixed",
      ROW_NUMBER() OVER (
        PARTITION BY "t3"."person"
        ORDER BY "t3"."mixed" ASC, "t3"."candidate_0" ASC, "t3"."copy_number" ASC
      ) - 1 AS "place"
    FROM (
      SELECT
        "t2"."candidate_0",
        "t2"."person",
        "t2"."copy_number",
        MD5(
          CONCAT(
            CONCAT(
              CONCAT(
                CONCAT(
                  CONCAT(
                    CONCAT('a00641a9f1e54a8be5afcdbcaf266a95', '|'),
                    COALESCE(CAST("t2"."person" AS VARCHAR), '')
                  ),
                  '|'
                ),
                COALESCE(CAST("t2"."candidate_0" AS VARCHAR), '')
              ),
              '|'
            ),
            COALESCE(CAST("t2"."copy_number" AS VARCHAR), '')
          )
        ) AS "mixed"
      FROM (
        SELECT
          "t1"."candidate_0",
          "t1"."person",
          ROW_NUMBER() OVER (PARTITION BY "t1"."person", "t1"."candidate_0" ORDER BY "t1"."person" ASC) - 1 AS "copy_number"
        FROM (
          SELECT
            CASE
              WHEN "t0"."small" IS NULL
              THEN NULL
              ELSE GREATEST(LEAST("t0"."small", 40), 0)
            END - 0 AS "candidate_0",
            "t0"."person_id" AS "person"
          FROM "people" AS "t0"
          WHERE
            NOT (
              "t0"."small" IS NULL
            ) AND NOT (
              "t0"."person_id" IS NULL
            )
        ) AS "t1"
      ) AS "t2"
    ) AS "t3"
  ) AS "t4"
  WHERE
    "t4"."place" < 2
) AS "t5";
-- small of people: candidate by its count
-- small where real > 0.25: number of records
SELECT
  *
FROM (
  SELECT
    "t1"."candidate",
    COUNT(*) AS "records"
  FROM (
    SELECT
      CASE
        WHEN "t0"."small" IS NULL
        THEN NULL
        ELSE GREATEST(LEAST("t0"."small", 40), 0)
      END - 0 AS "candidate"
    FROM "people" AS "t0"
    WHERE
      NOT (
        (
          "t0"."real" IS NULL
        ) OR IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
      AND "t0"."real" > CAST(0.25 AS DOUBLE)
      AND NOT (
        "t0"."small" IS NULL
      )
  ) AS "t1"
  GROUP BY
    1
) AS "t2";
-- small where real > 0.25: counts of values
-- small where real > 0.25: counts of counts
-- small where real > 0.25: counts in bins
-- small where real > 0.25: rank of a candidate
-- small where real > 0.25: ranks near quantiles
-- small where real > 0.25: sums of levels
SELECT
  COUNT("t2"."candidate_0") AS "records_0",
  COALESCE(SUM("t2"."level_0"), 0) AS "level_0"
FROM (
  SELECT
    "t1"."candidate_0",
    "t1"."candidate_0" AS "level_0"
  FROM (
    SELECT
      CASE
        WHEN "t0"."small" IS NULL
        THEN NULL
        ELSE GREATEST(LEAST("t0"."small", 40), 0)
      END - 0 AS "candidate_0"
    FROM "people" AS "t0"
    WHERE
      NOT (
        (
          "t0"."real" IS NULL
        ) OR IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
      AND "t0"."real" > CAST(0.25 AS DOUBLE)
      AND NOT (
        "t0"."small" IS NULL
      )
  ) AS "t1"
) AS "t2";
-- small where real > 0.25: sums of squares
SELECT
  COUNT("t2"."candidate_0") AS "records_0",
  COALESCE(SUM("t2"."level_0"), 0) AS "level_0",
  COALESCE(SUM("t2"."square_0"), 0) AS "square_0"
FROM (
  SELECT
    "t1"."candidate_0",
    "t1"."candidate_0" AS "level_0",
    "t1"."candidate_0" * "t1"."candidate_0" AS "square_0"
  FROM (
    SELECT
      CASE
        WHEN "t0"."small" IS NULL
        THEN NULL
        ELSE GREATEST(LEAST("t0"."small", 40), 0)
      END - 0 AS "candidate_0"
    FROM "people" AS "t0"
    WHERE
      NOT (
        (
          "t0"."real" IS NULL
        ) OR IF("t0"."real" IS NULL, NULL, IS_NAN("t0"."real"))
      )
      AND "t0"."real" > CAST(0.25 AS DOUBLE)
      AND NOT (
        "t0"."small" IS NULL
      )
  ) AS "t1"
) AS "t2";
-- small where real > 0.25: candidate by its count
